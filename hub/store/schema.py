"""The tables of the journal; the migrations make them, this module names them."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

journal = sa.Table(
    "journal",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("board", sa.String(32), nullable=False),
    sa.Column("source", sa.String(16), nullable=False),
    sa.Column("boot", sa.String(160), nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("wall_ms", sa.BigInteger, nullable=False),
    sa.Column("machine_boot", sa.String(64), nullable=False),
    sa.Column("mono_ns", sa.BigInteger, nullable=False),
    sa.Column("sent_ns", sa.BigInteger, nullable=False),
    sa.Column("synced", sa.Boolean, nullable=False),
    sa.Column("who", sa.String(64), nullable=False),
    sa.Column("refused", sa.Boolean, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("answer", sa.LargeBinary, nullable=True),
    sa.UniqueConstraint("board", "source", "boot", "seq", name="journal_identity"),
    sa.Index("journal_order", "board", "id"),
)
"""Every fact, request and notice, in the order in which they were taken in; nothing is ever rewritten."""

tables = sa.Table(
    "tables",
    metadata,
    sa.Column("board", sa.String(32), primary_key=True),
    sa.Column("entry", sa.BigInteger, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)
"""The newest state of each table, so that a start reads no journal."""

checkpoints = sa.Table(
    "checkpoints",
    metadata,
    sa.Column("board", sa.String(32), primary_key=True),
    sa.Column("entry", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)
"""A table's state just before a chapter's first line, from which undo replays."""

matches = sa.Table(
    "matches",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("board", sa.String(32), nullable=False),
    sa.Column("started_ms", sa.BigInteger, nullable=False),
    sa.Column("changed_ms", sa.BigInteger, nullable=False),
    sa.Column("over", sa.Boolean, nullable=False),
    sa.Column("record", sa.LargeBinary, nullable=False),
    sa.Index("matches_recent", "changed_ms"),
)
"""Matches with at least one finished round, for lists and statistics; derived from the states."""

players = sa.Table(
    "players",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("name", sa.String(80), nullable=False),
    sa.Index("players_name", "name"),
)
"""The only place with names: forgetting a person empties one cell, the journal holds ids."""

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("hash", sa.LargeBinary, primary_key=True),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("board", sa.String(32), nullable=False),
    sa.Column("expires_ms", sa.BigInteger, nullable=False),
)
"""Hashes of the tokens handed out by ``login``."""
