"""Discs at rest under a camera that watches: how board and discs look here, and where each disc lies."""
