"""The game, pure: standard library and the board's geometry only."""
