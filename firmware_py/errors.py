"""What can go wrong on a board; every message says what was read, what was expected and how to mend it."""

from __future__ import annotations

from typing import ClassVar


class FirmwareError(Exception):
    """Root of what ends a board's daemon with one line.

    Attributes:
        status: exit status of the daemon: 2 bad input, 3 a needed thing is missing.
    """

    status: ClassVar[int] = 3


class SettingError(FirmwareError):
    """The configuration asks for something that cannot be."""

    status: ClassVar[int] = 2


class DeviceMissingError(FirmwareError):
    """A device that the configuration names is not there."""


class StateError(FirmwareError):
    """The folder or database that a daemon keeps its state in cannot be used at start."""


class AlreadyRunningError(FirmwareError):
    """Another daemon of the same board and source holds the state folder."""
