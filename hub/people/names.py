"""Players' names, kept in one table of their own: everything else knows players by their ids."""

from __future__ import annotations

from collections.abc import Mapping

from hub.link.snapshot import Side

NAME_CHARS = 40
_JOINERS = "\u200c\u200d"
"""Marks between letters, not to be seen, without which Persian or Hindi names are spelt wrong."""


class Names:
    """Names by id, and ids by name.

    Args:
        known: names by id; of a person who was forgotten, an empty one, so that nobody else gets the id.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._names = dict(known)
        self._ids = {name: player for player, name in known.items() if name}

    @property
    def by_id(self) -> Mapping[str, str]:
        """Names by id."""
        return self._names

    def ids(self, given: Mapping[Side, str]) -> tuple[dict[Side, str], dict[str, str]]:
        """Ids of the players for the journal, those without a name left out; and names by id that are new."""
        ids: dict[Side, str] = {}
        new: dict[str, str] = {}
        for side, text in given.items():
            name = trimmed(text)
            if not name:
                continue
            if name not in self._ids:
                player = f"p{len(self._names) + 1}"
                self._ids[name] = player
                self._names[player] = new[player] = name
            ids[side] = self._ids[name]
        return ids, new

    def id_of(self, name: str) -> str | None:
        """The id of a person by the name."""
        return self._ids.get(trimmed(name))

    def forget(self, player: str) -> None:
        """Erase a name; who plays under it again is somebody new."""
        self._ids.pop(self._names.get(player, ""), None)
        self._names[player] = ""


def trimmed(name: str) -> str:
    """A name as it is kept: what a wall can show."""
    shown = "".join(c if c.isprintable() or c in _JOINERS else " " for c in name)
    return " ".join(filter(None, (word.strip(_JOINERS) for word in shown.split())))[:NAME_CHARS]
