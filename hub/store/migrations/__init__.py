"""Alembic's scripts; they ship with the package and run when the hub starts."""
