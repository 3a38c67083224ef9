"""Makes a journal long, so that a start on it can be timed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_FILL = """
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :more)
INSERT INTO journal (id, board, source, boot, seq, kind, wall_ms, machine_boot, mono_ns, sent_ns, synced, who, refused,
                     body, answer)
SELECT :last + n, j.board, j.source, 'filled', n, j.kind, j.wall_ms + n, j.machine_boot, j.mono_ns, j.sent_ns,
       j.synced, '', 0, j.body, NULL
FROM number JOIN journal j ON j.id = 1 + n % :last
"""


def fill(path: Path, lines: int) -> None:
    """Repeat the lines of a journal under new identities until it has so many; no hub may run on it."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA synchronous=OFF")
        (last,) = database.execute("SELECT max(id) FROM journal").fetchone()
        database.execute(_FILL, {"more": lines - last, "last": last})
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
