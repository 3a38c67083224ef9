"""How a daemon is doing: standing faults, counters, and what the log says about them, once on entry and once on end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from hub.link.messages import Health

log = logging.getLogger(__name__)

_THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")


def processor_temperature_c(path: Path = _THERMAL) -> float | None:
    """The processor's temperature, None where the kernel does not tell."""
    try:
        return round(int(path.read_text(encoding="ascii")) / 1000.0)
    except (OSError, ValueError):
        return None


class Vitals:
    """The health of one source; owned by the work loop.

    Args:
        version: of the software.
        source: whose health it is, for the log.
        capabilities: what the source can tell, e.g. ``twenties``.
        boot: of the daemon, so that a request can name it.
        temperature_c: reads the processor's temperature.
    """

    def __init__(
        self,
        *,
        version: str,
        source: str,
        capabilities: tuple[str, ...] = (),
        boot: str = "",
        temperature_c: Callable[[], float | None] = processor_temperature_c,
    ) -> None:
        self._version = version
        self._source = source
        self._boot = boot
        self._temperature_c = temperature_c
        self._faults: dict[str, str] = {}
        self._bad: dict[str, int] = {}
        self.capabilities = capabilities
        self.frame_rate_hz: float | None = None

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of the standing faults, oldest first."""
        return tuple(self._faults)

    @property
    def bad_messages(self) -> int:
        """Payloads skipped since the start."""
        return sum(self._bad.values())

    def fault(self, name: str, text: str = "") -> None:
        """A fault stands from now on; logged when it is new."""
        if name not in self._faults:
            log.warning("%s: fault %s%s", self._source, name, f": {text}" if text else "")
        self._faults[name] = text

    def well(self, name: str) -> None:
        """A fault has passed; logged if it stood."""
        if self._faults.pop(name, None) is not None:
            log.warning("%s: fault %s is over", self._source, name)

    def bad(self, what: str, why: str) -> None:
        """A payload was skipped; counted always, logged the first time for each ``what``."""
        if what not in self._bad:
            log.warning("%s: skipped %s: %s (counted from now on, not logged again)", self._source, what, why)
        self._bad[what] = self._bad.get(what, 0) + 1

    def health(self, outbox: int, *, machine_boot: str = "", able_since_ns: int = 0) -> Health:
        """The message for the hub.

        Args:
            outbox: facts not yet acknowledged.
            machine_boot: the kernel's boot id.
            able_since_ns: since when the source can tell what it can now, on the board's clock.
        """
        return Health(
            version=self._version,
            faults=self.faults,
            outbox=outbox,
            bad_messages=self.bad_messages,
            frame_rate_hz=None if self.frame_rate_hz is None else round(self.frame_rate_hz, 1),
            temperature_c=self._temperature_c(),
            capabilities=self.capabilities,
            boot=self._boot,
            machine_boot=machine_boot,
            able_since_ns=able_since_ns,
        )
