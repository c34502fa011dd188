"""Dictionaries with a way back: every change is noted, until it is kept or undone."""

from typing import Any, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

ABSENT: Any = object()


class Journal:
    """Owns the list of what was there before, newest last."""

    def __init__(self) -> None:
        self._before: list[tuple[dict[Any, Any], Any, Any]] = []

    def keep(self) -> None:
        self._before.clear()

    def undo(self) -> None:
        while self._before:
            table, key, before = self._before.pop()
            if before is ABSENT:
                del table[key]
            else:
                table[key] = before

    def _put(self, table: dict[Key, Value], key: Key, value: Value) -> None:
        self._before.append((table, key, table.get(key, ABSENT)))
        table[key] = value

    def _drop(self, table: dict[Key, Any], key: Key) -> None:
        if key in table:
            self._before.append((table, key, table.pop(key)))
