"""What can go wrong on a board; every message says what was read, what was expected and how to mend it."""

from __future__ import annotations


class FirmwareError(Exception):
    """Root of what a board's daemons raise; ends a daemon with one line."""


class DeviceMissingError(FirmwareError):
    """A device that the configuration names is not there (exit status 3)."""


class StateError(FirmwareError):
    """The folder or database that a daemon keeps its state in cannot be used at start (exit status 3)."""


class AlreadyRunningError(FirmwareError):
    """Another daemon of the same board and source holds the state folder (exit status 3)."""
