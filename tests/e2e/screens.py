"""A terminal as a person sits at it: the program as its own process on a real screen, driven by keys, read by eye.

Two kinds of screen: a pseudo-terminal whose output a terminal emulator draws, which works everywhere, and tmux, where
it is installed. Both are asked the same.
"""

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pyte

WAIT_SECONDS = 30.0
POLL_SECONDS = 0.05
KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "shift+up": "\x1b[1;2A",
    "backspace": "\x7f",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}
PROGRAM = (sys.executable, "-P", "-m", "turnkeeper")


class Screen(Protocol):
    def type(self, text: str) -> None: ...

    def press(self, *keys: str) -> None: ...

    def text(self) -> str:
        """What stands on the screen now."""
        ...

    def is_over(self) -> bool:
        """Whether the program has gone."""
        ...


def shows(screen: Screen, *wanted: str, without: str = "") -> str:
    """The screen, as soon as all of this stands on it."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        seen = screen.text()
        if all(text in seen for text in wanted) and not (without and without in seen):
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"the screen never showed {wanted} without {without!r}; it shows:\n{seen}")
        time.sleep(POLL_SECONDS)


def over(screen: Screen) -> None:
    """Returns when the program has gone."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not screen.is_over():
        if time.monotonic() > deadline:
            raise AssertionError(f"the program is still there; its screen shows:\n{screen.text()}")
        time.sleep(POLL_SECONDS)


class Emulated:
    """A pseudo-terminal, and a terminal emulator that draws what comes out of it."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, size: tuple[int, int]) -> None:
        width, height = size
        self._drawn = pyte.Screen(width, height)
        self._stream = pyte.ByteStream(self._drawn)
        self._master, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.process = subprocess.Popen(
            [*command], stdin=end, stdout=end, stderr=end, env=dict(env), cwd=cwd, start_new_session=True
        )
        os.close(end)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.type(KEYS.get(key, key))
            # Two keys at once would be read as one of another name.
            self.text()

    def text(self) -> str:
        while select.select([self._master], [], [], 0.02)[0]:
            try:
                said = os.read(self._master, 65536)
            except OSError:
                break
            if not said:
                break
            self._stream.feed(said)
        return "\n".join(line.rstrip() for line in self._drawn.display)

    def resize(self, size: tuple[int, int]) -> None:
        width, height = size
        self._drawn.resize(height, width)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        os.kill(self.process.pid, signal.SIGWINCH)

    def is_over(self) -> bool:
        self.text()
        return self.process.poll() is not None

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(WAIT_SECONDS)
        os.close(self._master)


class Tmux:
    """A window of a tmux server of its own."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, size: tuple[int, int], socket: Path
    ) -> None:
        width, height = size
        self._socket = socket
        variables = [part for name, value in env.items() for part in ("-e", f"{name}={value}")]
        shape = ["-x", str(width), "-y", str(height), "-c", str(cwd)]
        self._tmux("-f", "/dev/null", "new-session", "-d", "-s", "only", *shape, *variables, *command)

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *arguments],
            capture_output=True,
            text=True,
            check=check,
            timeout=WAIT_SECONDS,
        )
        return done.stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "only", "-l", text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self._tmux("send-keys", "-t", "only", "-l", KEYS.get(key, key))
            time.sleep(POLL_SECONDS)

    def text(self) -> str:
        return self._tmux("capture-pane", "-t", "only", "-p", check=False)

    def is_over(self) -> bool:
        return not self._tmux("list-sessions", check=False).strip()

    def close(self) -> None:
        self._tmux("kill-server", check=False)


KINDS = ("emulated", "tmux")


def is_here(kind: str) -> bool:
    return kind != "tmux" or shutil.which("tmux") is not None


@contextmanager
def screen(
    kind: str, *arguments: str, env: Mapping[str, str], cwd: Path, size: tuple[int, int] = (110, 36)
) -> Generator[Screen]:
    """The program on a screen, until the block ends."""
    env = {**env, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}
    env = {name: value for name, value in env.items() if value}
    command = (*PROGRAM, *arguments)
    if kind == "tmux":
        socket = Path(env["HOME"]) / f"tmux-{time.monotonic_ns()}"
        opened: Tmux | Emulated = Tmux(command, env=env, cwd=cwd, size=size, socket=socket)
    else:
        opened = Emulated(command, env=env, cwd=cwd, size=size)
    try:
        yield opened
    finally:
        opened.close()
