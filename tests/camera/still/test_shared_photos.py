"""The photos of real boards that lie beside the project, against their truth."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from firmware_py.camera.still.photo import score_photo
from firmware_py.camera.still.photoreading import PhotoReading

ROOT = Path(__file__).resolve().parents[3]
PHOTOS = ROOT.parent / "shared" / "photos"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (PHOTOS / "truth.json").is_file(), reason="the photos do not lie beside the project"),
]


def accuracy_module():
    path = ROOT / "tests" / "bench" / "photo_accuracy.py"
    spec = importlib.util.spec_from_file_location("crokinole_photo_accuracy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_real_photos_are_read_as_people_read_them():
    accuracy = accuracy_module()
    truths = json.loads((PHOTOS / "truth.json").read_text(encoding="utf-8"))
    everything, right = accuracy.Tally(), 0
    for name, truth in truths.items():
        reading = score_photo(PHOTOS / name)
        if name.startswith("brown") and not isinstance(reading, PhotoReading):
            pytest.skip("this OpenCV reads no AVIF")
        assert isinstance(reading, PhotoReading), name
        everything.add(accuracy.compare(reading, truth))
        right += accuracy.totals_possible(reading, truth)
    summary = accuracy.summarise(everything, len(truths), right, len(truths), [])
    assert summary["all_targets_met"], (summary, everything.notes)
