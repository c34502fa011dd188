"""Garbage is looked for while nobody waits for the screen.

Python looks through everything that lives whenever enough has been made. With a long conversation on the screen that is
a quarter of a second, and it would come while somebody scrolls, since scrolling makes things. So only what is young is
looked through at any time, and all of it when no key was pressed for a moment; or after so long that memory must not
wait any longer.
"""

import gc
import time
from collections.abc import Callable

YOUNG_OBJECTS_MAX = 1_000
"""How many objects are made before the youngest are looked through: a tenth of a millisecond's work."""
ROUNDS_BEFORE_OLDER = 10
NEVER_ROUNDS = 1_000_000_000
DUE_ROUNDS = 100
"""A million objects, kept or not: what is worth looking for when nobody waits."""
OVERDUE_ROUNDS = 3_000
"""What is looked for though somebody types."""
QUIET_SECONDS = 1.0
LOOK_SECONDS = 0.5


class Tidying:
    """Owns when this process looks for garbage, from `begin` to `end`."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._touched_at = now()
        self._before: tuple[int, int, int] | None = None

    def begin(self) -> None:
        self._before = self._before or gc.get_threshold()
        gc.set_threshold(YOUNG_OBJECTS_MAX, ROUNDS_BEFORE_OLDER, NEVER_ROUNDS)

    def end(self) -> None:
        if self._before is not None:
            gc.set_threshold(*self._before)
            self._before = None

    def touched(self) -> None:
        """Somebody pressed a key, and waits for what comes of it."""
        self._touched_at = self._now()

    @property
    def quiet_seconds(self) -> float:
        return self._now() - self._touched_at

    def look(self) -> None:
        """Look for garbage, if it is time to."""
        if is_time(rounds=gc.get_count()[2], quiet_seconds=self.quiet_seconds):
            gc.collect()


def is_time(*, rounds: int, quiet_seconds: float) -> bool:
    """Whether to look through everything, so many rounds among the younger after the last time."""
    return rounds >= OVERDUE_ROUNDS or (rounds >= DUE_ROUNDS and quiet_seconds >= QUIET_SECONDS)
