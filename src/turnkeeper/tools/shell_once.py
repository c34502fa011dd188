"""A command that a person typed: run once, in colour, heard while it runs, and answered whole.

What it leaves running is stopped, since nobody would look after it. Cancelling stops all of it, and so do the end of
its time and its wish for a screen of its own, which there is none of.
"""

import codecs
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio

from turnkeeper.tools.shell_env import person_env, shell_path
from turnkeeper.tools.shell_output import redrawn
from turnkeeper.tools.shell_process import CommandRefused, run, start

OUTPUT_BYTES_MAX = 4 * 1024 * 1024
SECONDS_MAX = 1800.0
TIMED_OUT = 124
REFUSED = 1
SYNTAX_ERROR = 2
OTHER_SCREEN = (b"\x1b[?1049h", b"\x1b[?1047h", b"\x1b[?47h")
"""What editors, pagers and the like begin with: they take the whole screen, and give it back at the end."""
OTHER_SCREEN_BYTES_MAX = max(map(len, OTHER_SCREEN))
WANTS_SCREEN = (
    "[stopped: this wants a screen and a keyboard of its own, and a line that is run here has neither; "
    "run it in another terminal, or suspend to the shell]"
)


class _Heard:
    """Owns what a command said, bounded, and whether it asked for a screen of its own."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.kept = {"stdout": bytearray(), "stderr": bytearray()}
        self.lost = 0
        self.limit = anyio.CancelScope()
        self._tell = tell
        self._end = b""
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in self.kept}

    def hear(self, stream: str, data: bytes) -> None:
        if self._wants_screen(data):
            self.limit.cancel()
        if self.limit.cancel_called:
            return  # What it draws there, and what it says as it is stopped, is for no screen of ours.
        room = max(0, OUTPUT_BYTES_MAX - len(self.kept[stream]))
        self.kept[stream] += data[:room]
        self.lost += len(data) - min(room, len(data))
        self._tell(self._decoders[stream].decode(data))

    def _wants_screen(self, data: bytes) -> bool:
        data = self._end + data
        self._end = data[-OTHER_SCREEN_BYTES_MAX:]
        return any(wish in data for wish in OTHER_SCREEN)

    def text(self, stream: str) -> str:
        return redrawn(bytes(self.kept[stream]).decode("utf-8", "replace"))


async def run_once(
    command: str,
    cwd: Path,
    env: Mapping[str, str],
    *,
    timeout: float = SECONDS_MAX,
    heard: Callable[[str], None] = lambda _: None,
) -> tuple[str, int]:
    """What it said (errors last) and its exit code; a line that no shell can read has exit code 1."""
    around = person_env(env)
    try:
        process = start((shell_path(around), "-c", command), cwd=cwd, env=around, apart=True)
    except CommandRefused as refused:
        return str(refused), REFUSED
    hearing = _Heard(heard)
    in_time = False
    with hearing.limit:
        in_time = await run(process, hearing.hear, seconds_max=timeout)
    texts = [hearing.text("stdout"), hearing.text("stderr")]
    if hearing.lost:
        texts.append(f"[{hearing.lost} bytes were left out]")
    if hearing.limit.cancel_called:
        return "\n".join(filter(None, [*texts, WANTS_SCREEN])), REFUSED
    if not in_time:
        return "\n".join(filter(None, [*texts, f"[stopped after {timeout:g} seconds]"])), TIMED_OUT
    assert process.exit is not None, "a command that was heard out has ended"
    is_unreadable = process.exit.status == SYNTAX_ERROR and "syntax error" in texts[1]
    return "\n".join(filter(None, texts)), REFUSED if is_unreadable else process.exit.status
