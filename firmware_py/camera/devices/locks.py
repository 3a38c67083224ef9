"""What a camera was locked to: focus, exposure, gain and white balance, kept so that they are the same after a restart.

A camera that adapts by itself changes all colours when a hand comes in, and its scale when it refocuses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

_FILE = "camera-locks.json"


class Locks:
    """The kept values of the cameras of one board.

    Args:
        folder: the board's state folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def load(self, camera: str) -> dict[str, float] | None:
        """Values of a camera by name; None if nothing that can be read was kept of it."""
        values = self._all().get(camera)
        return dict(values) if values else None

    def save(self, camera: str, values: Mapping[str, float]) -> None:
        """Keep the values of a camera; a full or read-only medium costs only their learning anew."""
        table = self._all()
        table[camera] = dict(values)
        new = self._path.with_suffix(".new")
        try:
            new.write_text(json.dumps(table, indent=1), encoding="utf-8")
            new.replace(self._path)
        except OSError:
            return

    def forget(self, camera: str) -> None:
        """Have a camera learn its values anew."""
        self.save(camera, {})

    def _all(self) -> dict[str, dict[str, float]]:
        try:
            table = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(table, dict):
            return {}
        return {
            str(name): {str(k): float(v) for k, v in values.items() if isinstance(v, int | float) and math.isfinite(v)}
            for name, values in table.items()
            if isinstance(values, dict)
        }
