"""Hypothesis without deadlines: a busy machine is no failure of the rules."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
