"""Copies SQLite's write-ahead log back into the database beside the hub's loop, so that no fact waits for it."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

log = logging.getLogger(__name__)

_AFTER_BYTES = 12_000_000
"""Of rows; as whole pages they are two to three times as much in the log. With sixty boards that is some 20 s."""

_TRIES = 5
"""Batches come in meanwhile; only a log that has been copied back as a whole is begun anew."""


class Checkpoints:
    """A thread with a connection of its own, which is idle but for a tenth of a second now and then.

    SQLite does the same by itself in the middle of a batch when the log has grown twice as long
    (:data:`hub.store.engine.CHECKPOINT_PAGES`), as when this thread cannot keep up.

    Args:
        engine: the database's.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._running: Future[bool] | None = None
        self._bytes = 0

    def written(self, size: int) -> Future[bool] | None:
        """So many bytes of rows have been stored.

        Returns:
            The checkpoint that this has begun, with whether all of the log was copied back; None for none.
        """
        self._bytes += size
        if self._bytes < _AFTER_BYTES or not (self._running is None or self._running.done()):
            return None
        self._bytes = 0
        self._running = self._worker.submit(self._copy_back)
        return self._running

    def close(self) -> None:
        """Wait for what is under way."""
        self._worker.shutdown()

    def _copy_back(self) -> bool:
        try:
            with self._engine.connect() as connection:
                for _ in range(_TRIES):
                    busy, pages, copied = connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").one()
                    if not busy and pages == copied:
                        return True
        except DBAPIError as failure:  # a full disk, which the loop meets itself and tells of
            log.debug("the log cannot be copied back: %s", failure.orig)
        return False
