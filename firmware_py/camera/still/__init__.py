"""A photo of a finished round: every disc from one picture, nothing known before."""
