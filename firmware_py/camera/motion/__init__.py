"""What happens between two rests: tracks, names, contacts, and the shot that they tell."""
