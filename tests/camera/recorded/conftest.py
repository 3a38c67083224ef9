"""Helpers of the tests of recordings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import cv2
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As on a small computer, and so that tests running side by side do not slow each other down."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    yield
    cv2.setNumThreads(before)
