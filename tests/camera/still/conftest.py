"""Gives the drawn boards to the tests of this folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest


def load_drawn() -> ModuleType:
    """The module of drawn boards beside this file."""
    name = "crokinole_drawn_boards"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("drawn.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def drawn() -> ModuleType:
    return load_drawn()


@pytest.fixture(scope="session")
def folder(drawn: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files as people have them, good and bad."""
    place = tmp_path_factory.mktemp("photos")
    picture = drawn.draw_round()
    cv2.imwrite(str(place / "good.jpg"), picture)
    cv2.imwrite(str(place / "grey.png"), cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))
    cv2.imwrite(str(place / "deep.png"), picture.astype(np.uint16) * 257)
    cv2.imwrite(str(place / "twelve bits.png"), picture.astype(np.uint16) * 16)
    cv2.imwrite(str(place / "large.jpg"), cv2.resize(picture, None, fx=4.5, fy=4.5))
    cv2.imwrite(str(place / "black.png"), np.zeros((480, 640, 3), np.uint8))
    cv2.imwrite(str(place / "floor.jpg"), np.random.default_rng(1).integers(0, 255, (300, 400, 3)).astype(np.uint8))
    cv2.imwrite(str(place / "cut.jpg"), picture[:, 400:])
    cv2.imwrite(str(place / "dot.png"), picture[:1, :1])
    (place / "text.jpg").write_text("not a picture at all")
    (place / "empty.jpg").write_bytes(b"")
    (place / "half.jpg").write_bytes((place / "good.jpg").read_bytes()[:900])
    return place
