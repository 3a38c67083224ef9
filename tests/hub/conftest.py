"""Folders for journals whose every transaction waits for the disk, and a table to play at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.harness import Club
from tests.hub.table_bench import Bench

MEMORY = Path("/dev/shm")


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one, so that thousands of synchronous commits take no time."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def bench(quick_path: Path) -> Iterator[Bench]:
    """A table with a hub and no match yet."""
    club = Club(quick_path)
    yield Bench(club)
    club.close()
