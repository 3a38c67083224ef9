"""The infrared break-beam across the 20-hole."""
