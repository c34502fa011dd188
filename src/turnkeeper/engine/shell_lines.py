"""The lines that people run beside a conversation, while they run: seen by everybody, and stopped by anybody.

Nothing of them is in the log before they have ended, so what they are saying is told with who is there.
"""

from collections.abc import Callable

import anyio

from turnkeeper.protocol.ids import ClientId, MessageId, SessionId
from turnkeeper.protocol.wire_clients import ShellLine

SHOWN_CHARACTERS_MAX = 4096
"""How much of the end of what a line says is told while it runs."""
SAID_CHARACTERS_MAX = 4 * 1024 * 1024
"""How much of its beginning is kept, in case it is stopped."""
STOPPED = "[stopped]"
STOPPED_STATUS = 130
"""What a shell says of a command that ctrl+c has ended."""


class Line:
    """Owns what one line has said so far, and the scope it runs in."""

    def __init__(self, id: MessageId, session_id: SessionId, command: str, *, by: ClientId, since: int) -> None:
        self.scope = anyio.CancelScope()
        self.on_moved: Callable[[], None] = lambda: None
        self._begun = ShellLine(id, session_id, command, by, since)
        self._said: list[str] = []
        self._room = SAID_CHARACTERS_MAX
        self._end = ""

    @property
    def id(self) -> str:
        return self._begun.id

    @property
    def session_id(self) -> str:
        return self._begun.session_id

    @property
    def now(self) -> ShellLine:
        begun = self._begun
        stopping = self.scope.cancel_called
        return ShellLine(begun.id, begun.session_id, begun.command, begun.by, begun.since, self._end, stopping)

    def heard(self, text: str) -> None:
        self._said.append(text[: self._room])
        self._room -= len(self._said[-1])
        self._end = (self._end + text)[-SHOWN_CHARACTERS_MAX:]
        self.on_moved()

    def stop(self) -> None:
        self.scope.cancel()
        self.on_moved()

    def until_stopped(self) -> str:
        """What is kept of it when somebody stopped it."""
        said = "".join(self._said)
        return f"{said}{'' if said.endswith(chr(10)) or not said else chr(10)}{STOPPED}"


class Lines:
    """Owns which lines run now. `on_moved` is called when that changes, and whenever one of them says something."""

    def __init__(self) -> None:
        self.on_moved: Callable[[], None] = lambda: None
        self._going: dict[str, Line] = {}
        self._quiet = anyio.Event()
        self._quiet.set()

    @property
    def now(self) -> tuple[ShellLine, ...]:
        return tuple(line.now for line in self._going.values())

    def begin(self, line: Line) -> None:
        if not self._going:
            self._quiet = anyio.Event()
        self._going[line.id] = line
        line.on_moved = self._moved
        self._moved()

    def over(self, line: Line) -> None:
        del self._going[line.id]
        if not self._going:
            self._quiet.set()
        self._moved()

    def find(self, line_id: str) -> Line | None:
        return self._going.get(line_id)

    async def stop_all(self) -> None:
        """Returns when the last of them has ended."""
        for line in list(self._going.values()):
            line.stop()
        await self._quiet.wait()

    def _moved(self) -> None:
        self.on_moved()
