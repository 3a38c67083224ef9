"""The overhead camera: rings, discs, shots. Pixels never leave this room."""
