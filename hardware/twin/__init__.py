"""The board's simulated double: physics, people, pictures, with known truth."""
