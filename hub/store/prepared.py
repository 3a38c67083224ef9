"""Statements of the hot path, put into the words of the database's driver once.

SQLAlchemy's part at each execution takes longer than the database's own, and every fact waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect


class Prepared:
    """One statement whose values need no conversion: numbers, texts, bytes and None.

    Args:
        statement: with a value for each column.
        columns: that are given.
        dialect: the database's.
    """

    def __init__(self, statement: sa.Insert, columns: Sequence[str], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=list(columns))
        self._sql = str(compiled)
        self._order = compiled.positiontup if compiled.positional else None

    def execute(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute it once for each row."""
        if self._order is None:
            connection.exec_driver_sql(self._sql, [dict(row) for row in rows])
        else:
            connection.exec_driver_sql(self._sql, [tuple(row[name] for name in self._order) for row in rows])
