"""Cameras as devices: frames grabbed, settings locked, and what each can judge."""
