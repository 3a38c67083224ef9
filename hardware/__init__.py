"""The board itself: geometry in millimetres, presets, drawings; and its simulated twin."""
