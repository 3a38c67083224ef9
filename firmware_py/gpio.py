"""The board's pins; the only user of gpiozero, for real pins and for its mock pins on a clock of ours.

gpiozero calls back on a thread of its own, and an error that escaped there would silently end all edges of the
process. So a callback only notes the edge, with the time the kernel gave it, and never raises. No bounce time is set
(every backend means something else by it): what edges mean is :mod:`firmware_py.beam.episodes`'s to say.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

from gpiozero import GPIOZeroError, InputDevice, OutputDevice, PinError
from gpiozero.pins.mock import MockFactory, MockPin, PinState

from firmware_py.errors import DeviceMissingError, SettingError
from firmware_py.inbox import Inbox
from hub.link.clock import Clock

log = logging.getLogger(__name__)

_STATES_KEPT = 1000
_PI_5 = "c04170"


class SimulatedPin(MockPin):  # type: ignore[misc]  # gpiozero has no types
    """gpiozero's mock pin on the clock of its factory, with a level that an outside circuit gives it."""

    states: list[Any]
    _state: bool
    _last_change: float

    def _change_state(self, value: bool) -> bool:
        if self._state == value:
            return False
        at_s = self.factory.ticks()
        self._state = value
        self.states.append(PinState(at_s - self._last_change, value))
        del self.states[:-_STATES_KEPT]  # a simulated evening has many
        self._last_change = at_s
        return True

    def clear_states(self) -> None:
        """Forget the states so far."""
        self._last_change = self.factory.ticks()
        self.states = [PinState(0.0, self._state)]

    def drive_unheard(self, *, high: bool) -> None:
        """Change the level as the kernel sometimes does: without an edge."""
        self._change_state(high)

    def _set_pull(self, value: str) -> None:
        super()._set_pull(value)
        held_high = self.factory.held.get(self.info.name)
        if held_high is not None:
            self.drive_unheard(high=held_high)


class SimulatedFactory(MockFactory):  # type: ignore[misc]  # gpiozero has no types
    """gpiozero's mock pins on a clock of ours.

    Args:
        clock: what edges are stamped with.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.held: dict[str, bool] = {}
        super().__init__(revision=_PI_5, pin_class=SimulatedPin)

    def ticks(self) -> float:
        """Seconds on our clock."""
        return self._clock.now_ns() / 1e9

    def hold(self, pin: int, *, high: bool) -> None:
        """Let an outside circuit hold a pin at a level from before it is first used."""
        self.held[f"GPIO{pin}"] = high

    def drive(self, pin: int, *, high: bool, heard: bool = True) -> None:
        """Change the level of an input; unheard, no edge tells of it."""
        target = self.pin(pin)
        if not heard:
            target.drive_unheard(high=high)
        elif high:
            target.drive_high()
        else:
            target.drive_low()


class BeamPins:
    """The beam's receiver and emitter.

    Args:
        factory: of gpiozero's pins.
        pin: BCM number of the receiver.
        emitter_pin: BCM number of the emitter's switch, 0 for one that is always on.
        broken_level: level of the receiver when the beam is blocked.

    Raises:
        SettingError: the pins cannot be used so.
        DeviceMissingError: the pins are not there or somebody else has them.
    """

    def __init__(
        self, factory: Any, *, pin: int, emitter_pin: int = 0, broken_level: Literal["low", "high"] = "low"
    ) -> None:
        if pin == emitter_pin:
            raise SettingError(
                f"[beam] pin and emitter_pin are both {pin}; the receiver and the emitter need their own"
            )
        self._edges: Inbox[tuple[int, bool]] = Inbox()
        self._told = False
        self._receiver: InputDevice | None = None
        self._emitter: OutputDevice | None = None
        try:
            if emitter_pin:
                self._emitter = _claim(lambda: OutputDevice(emitter_pin, initial_value=True, pin_factory=factory))
            # The pull-up stands outside: the Pi's own is too weak for a cable.
            self._receiver = _claim(
                lambda: InputDevice(pin, pull_up=None, active_state=broken_level == "high", pin_factory=factory)
            )
            self._receiver.pin.edges = "both"
            self._receiver.pin.when_changed = self._changed
        except BaseException:
            self.close()
            raise
        self._broken_high = broken_level == "high"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def blocked(self) -> bool:
        """Level of the receiver now."""
        return self._receiver is not None and bool(self._receiver.is_active)

    @property
    def has_emitter(self) -> bool:
        """Whether the emitter can be switched."""
        return self._emitter is not None

    @property
    def emitting(self) -> bool:
        """Whether the emitter is on."""
        return self._emitter is None or bool(self._emitter.value)

    def fileno(self) -> int:
        """Readable when an edge has come."""
        return self._edges.fileno()

    def edges(self) -> list[tuple[int, bool]]:
        """Edges since the last call: time (ns on the pins' clock) and whether the beam is blocked since."""
        return self._edges.drain()

    def emit(self, *, on: bool) -> None:
        """Switch the emitter."""
        if self._emitter is not None:
            self._emitter.value = on

    def close(self) -> None:
        """Give the pins back."""
        for device in (self._receiver, self._emitter):
            if device is not None:
                device.close()
        self._receiver = self._emitter = None
        self._edges.close()

    def _changed(self, ticks: float, state: Any) -> None:
        try:
            self._edges.put((round(ticks * 1e9), bool(state) == self._broken_high))
        except Exception:  # an error that escapes would end gpiozero's thread, and with it all edges
            if not self._told:
                log.exception("an edge of the beam could not be noted")
            self._told = True


def real_factory(folder: Path) -> Any:
    """Gpiozero's pins of this machine, by lgpio alone: the only backend that all Pis share, and never a silent other.

    The process changes to ``folder`` (lgpio makes a FIFO in the working directory), so no relative path may be used
    after this; and it must not fork any more.

    Raises:
        DeviceMissingError: no lgpio, no GPIO on this machine, or not ours to use.
    """
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("LG_WD", str(folder))
    try:
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError:
        raise DeviceMissingError(
            "[beam] source = 'gpio' needs the package lgpio: apt install python3-lgpio, "
            "or in the project's folder pip install '.[pi]'"
        ) from None
    try:
        return LGPIOFactory()
    except GPIOZeroError as error:
        raise DeviceMissingError(f"[beam] source = 'gpio': this machine has no GPIO pins: {error}") from None
    except Exception as error:  # lgpio raises a bare error of its own
        raise DeviceMissingError(
            f"[beam] source = 'gpio': /dev/gpiochip0 cannot be opened: {error}; is the user in the group gpio?"
        ) from None


def _claim(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (PinError, ValueError) as error:
        raise SettingError(f"[beam] pin or emitter_pin: {error}") from None
    except Exception as error:  # in use by us or by another process; lgpio raises a bare error of its own
        raise DeviceMissingError(f"[beam] pin or emitter_pin: {error}") from None
