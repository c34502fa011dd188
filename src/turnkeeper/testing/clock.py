"""An event loop whose time is not the world's: when everybody waits for a moment, that moment has come.

    @pytest.fixture
    def anyio_backend() -> object:
        return "asyncio", {"loop_factory": JumpingLoop}

So a test of a patience of ten minutes takes none, and says exactly when something happened. Only waits of the event
loop can be jumped over: what waits for a thread, a file or a socket belongs on a loop of the world's.
"""

import asyncio
import selectors
from typing import Any

BEGINNING_SECONDS = 1_000.0
DEADLOCK_SECONDS = 5.0
"""Of the world's: how long nobody at all may have anything to do."""


class JumpingSelector(selectors.DefaultSelector):
    """Waits for nobody: instead of time that would pass, it is later."""

    def __init__(self) -> None:
        super().__init__()
        self.now = BEGINNING_SECONDS

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout is not None:
            self.now += 0 if ready else max(0.0, timeout or 0.0)
            return ready
        if not (ready := super().select(DEADLOCK_SECONDS)):
            raise RuntimeError("everybody waits, and nobody for a moment that will come")
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


JUMPING: tuple[str, dict[str, Any]] = ("asyncio", {"loop_factory": JumpingLoop})
"""What the fixture `anyio_backend` returns where time jumps."""
