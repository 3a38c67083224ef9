"""A recorded video of a shot, read from beginning to end."""
