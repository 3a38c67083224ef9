"""A PostgreSQL database for one test at a time, however many processes the tests are spread over."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from hub.store.engine import open_engine, parse_url

POSTGRES = "CROKINOLE_TEST_POSTGRES"


@contextmanager
def empty_database() -> Iterator[str]:
    """URL of the database that :data:`POSTGRES` names, emptied and ours alone; skips where none is named."""
    server = os.environ.get(POSTGRES)
    if not server:
        reason = f"{POSTGRES} names no database: apt install postgresql, and see .ci/run"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with (Path(tempfile.gettempdir()) / f"crokinole-postgres-{os.getuid()}.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        engine = open_engine(parse_url(server))
        with engine.begin() as connection:
            connection.execute(sa.text("DROP SCHEMA public CASCADE"))
            connection.execute(sa.text("CREATE SCHEMA public"))
        engine.dispose()
        yield server
