"""Where the board is in a picture: rings, pose, calibration."""
