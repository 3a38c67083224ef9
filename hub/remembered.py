"""Results for frozen values that come again and again: found by what they are, not by comparing what is in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Remembered(Generic[Result]):
    """The last results of one pure function of frozen values.

    A table's state shares what did not change with the state before it, so most of what follows from a fact is asked
    about the very same rounds and rules as the fact before. They hold dicts, so they have no hash; and comparing them
    would take as long as the work that it spares.

    Args:
        most: results that are kept; when there are more, all are dropped.
    """

    __slots__ = ("_known", "_most")

    def __init__(self, most: int = 512) -> None:
        self._known: dict[tuple[object, ...], tuple[tuple[object, ...], Result]] = {}
        self._most = most

    def of(self, values: tuple[object, ...], make: Callable[[], Result], *more: object) -> Result:
        """The result for just these values.

        Args:
            values: frozen values, known by their identity; they are kept alive with the result, so that no other
                value gets their identity.
            make: gives the result where it is not known.
            more: short values that have a hash, such as numbers and letters.
        """
        key = (*map(id, values), *more)
        found = self._known.get(key)
        if found is not None:
            return found[1]
        result = make()
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[key] = (values, result)
        return result
