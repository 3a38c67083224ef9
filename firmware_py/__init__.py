"""What runs on the Pi under a board: sensors in, facts out."""
