"""What the camera's daemon keeps on disk, so that a restart in the middle of a round goes on where it was."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np

from firmware_py.camera.board.calibration import Calibration, CalibrationError
from firmware_py.camera.picture.lab import Floats, Image
from firmware_py.camera.picture.regions import Mask
from firmware_py.camera.rest.appearance import Look, Wardrobe
from firmware_py.camera.rest.resting import Resting
from hub.link.messages import KIND_OF, Fact, decode_fact, encode

_FORMAT = 1


class _Pending(msgspec.Struct, frozen=True):
    kind: str
    body: msgspec.Raw


class _Layout(msgspec.Struct, frozen=True):
    format: int
    discs: tuple[dict[str, Any], ...]
    next_number: int
    boot: str
    seq: int
    pending: tuple[_Pending, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The state of the board at the last rest.

    Attributes:
        discs: what lay there.
        next_number: for the next new disc's name.
        still: the straight view of that rest.
        boot: of the daemon that wrote it.
        seq: the last number it had given out before ``pending``.
        pending: facts of that rest, which it may not have got to report.
    """

    discs: tuple[Resting, ...]
    next_number: int
    still: Image
    boot: str = ""
    seq: int = 0
    pending: tuple[Fact, ...] = field(default=())


class Keepsake:
    """Files in a board's state folder; each is replaced at once, so that a crash leaves the old or the new one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save_board(self, calibration: Calibration, bare: Floats) -> None:
        """Keep a calibration and the picture of the empty board."""
        self._write("camera-calibration.json", calibration.to_json().encode())
        self.save_bare(bare)

    def save_bare(self, bare: Floats) -> None:
        """Keep the picture of the empty board, to a sixteenth of a grey level."""
        good, data = cv2.imencode(".png", np.clip(np.rint(bare * 16), 0, 65535).astype(np.uint16), _FAST)
        if good:
            self._write("camera-empty.png", data.tobytes())

    def load_board(self) -> tuple[Calibration, Floats] | None:
        """Calibration and empty board; None if there are none, or none that can be read."""
        try:
            calibration = Calibration.from_json((self._folder / "camera-calibration.json").read_text("utf-8"))
            data = np.frombuffer((self._folder / "camera-empty.png").read_bytes(), np.uint8)
        except (OSError, UnicodeDecodeError, CalibrationError):
            return None
        picture = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if len(data) else None
        if picture is None or picture.dtype != np.uint16 or picture.ndim != 3:
            return None
        return calibration, (picture.astype(np.float32) / np.float32(16))

    def save_guessed(self, guessed: Mask | None) -> None:
        """Keep which pixels of the empty board nobody has seen; None for none."""
        if guessed is None or not guessed.any():
            with contextlib.suppress(OSError):
                (self._folder / "camera-guessed.png").unlink(missing_ok=True)
            return
        good, data = cv2.imencode(".png", guessed.astype(np.uint8) * np.uint8(255), _FAST)
        if good:
            self._write("camera-guessed.png", data.tobytes())

    def load_guessed(self, bare: Floats) -> Mask | None:
        """Which pixels of the empty board nobody has seen; None for none."""
        try:
            data = np.frombuffer((self._folder / "camera-guessed.png").read_bytes(), np.uint8)
        except OSError:
            return None
        mask = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if len(data) else None
        return None if mask is None or mask.shape != bare.shape[:2] else np.asarray(mask > 0)

    def save_rest(self, rest: Remembered) -> None:
        """Keep what lies on the board, and the facts about to be reported of it."""
        good, data = cv2.imencode(".png", rest.still, _FAST)
        if good:
            self._write("camera-still.png", data.tobytes())
        layout = _Layout(
            format=_FORMAT,
            discs=tuple(asdict(d) for d in rest.discs),
            next_number=rest.next_number,
            boot=rest.boot,
            seq=rest.seq,
            pending=tuple(_Pending(KIND_OF[type(f)], msgspec.Raw(encode(f))) for f in rest.pending),
        )
        self._write("camera-layout.json", msgspec.json.encode(layout))

    def load_rest(self) -> Remembered | None:
        """The last rest; None if there is none, or none that can be read."""
        try:
            layout = msgspec.json.decode((self._folder / "camera-layout.json").read_bytes(), type=_Layout)
            data = np.frombuffer((self._folder / "camera-still.png").read_bytes(), np.uint8)
            discs = tuple(msgspec.convert(d, Resting) for d in layout.discs)
            pending = tuple(decode_fact(p.kind, bytes(p.body)) for p in layout.pending)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None
        still = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        if still is None or layout.format != _FORMAT:
            return None
        return Remembered(
            discs, layout.next_number, np.asarray(still, dtype=np.uint8), layout.boot, layout.seq, pending
        )

    def save_looks(self, wardrobe: Wardrobe) -> None:
        """Keep what was learned of the discs' looks."""
        arrays: dict[str, Any] = {"shade_sum": wardrobe.shade.sum, "shade_count": wardrobe.shade.count}
        for name, look in wardrobe.looks.items():
            arrays[f"{name}.face"] = look.face
            arrays[f"{name}.spread"] = look.spread
            arrays[f"{name}.wall"] = look.wall_bgr
            arrays[f"{name}.figures"] = np.array([look.radius_mm, look.learned])
        path = self._folder / "camera-looks.npz.new"
        with contextlib.suppress(OSError):
            with path.open("wb") as file:
                np.savez(file, **arrays)
            path.replace(self._folder / "camera-looks.npz")

    def load_looks(self) -> Wardrobe:
        """What was learned of the discs' looks; an empty wardrobe if nothing was."""
        wardrobe = Wardrobe()
        try:
            with np.load(self._folder / "camera-looks.npz", allow_pickle=False) as arrays:
                if arrays["shade_sum"].shape != wardrobe.shade.sum.shape:
                    return wardrobe
                wardrobe.shade.sum = arrays["shade_sum"].astype(np.float32)
                wardrobe.shade.count = arrays["shade_count"].astype(np.float32)
                for name in ("light", "dark", "third"):
                    if f"{name}.face" in arrays:
                        radius, learned = (float(v) for v in arrays[f"{name}.figures"])
                        wardrobe.looks[name] = Look(
                            radius_mm=radius,
                            face=arrays[f"{name}.face"].astype(np.float32),
                            spread=arrays[f"{name}.spread"].astype(np.float32),
                            wall_bgr=arrays[f"{name}.wall"].astype(np.float32),
                            learned=learned,
                        )
        except (OSError, ValueError, KeyError, EOFError):
            return Wardrobe()
        return wardrobe

    def _write(self, name: str, data: bytes) -> None:
        """Replace a file; a full or read-only medium costs only the memory of a restart."""
        new = self._folder / f"{name}.new"
        with contextlib.suppress(OSError):
            with new.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._folder / name)


_FAST = (cv2.IMWRITE_PNG_COMPRESSION, 1)
