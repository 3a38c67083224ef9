"""Journal, table states, chapters, matches, names and tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "journal",
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
    )
    op.create_index("journal_order", "journal", ["board", "id"])
    op.create_table(
        "tables",
        sa.Column("board", sa.String(32), primary_key=True),
        sa.Column("entry", sa.BigInteger, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "checkpoints",
        sa.Column("board", sa.String(32), primary_key=True),
        sa.Column("entry", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("board", sa.String(32), nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
        sa.Column("changed_ms", sa.BigInteger, nullable=False),
        sa.Column("over", sa.Boolean, nullable=False),
        sa.Column("record", sa.LargeBinary, nullable=False),
    )
    op.create_index("matches_recent", "matches", ["changed_ms"])
    op.create_table(
        "players",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(80), nullable=False),
    )
    op.create_index("players_name", "players", ["name"])
    op.create_table(
        "tokens",
        sa.Column("hash", sa.LargeBinary, primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("board", sa.String(32), nullable=False),
        sa.Column("expires_ms", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    for name in ("tokens", "players", "matches", "checkpoints", "tables", "journal"):
        op.drop_table(name)
