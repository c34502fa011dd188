"""One command and everything it starts, from its first byte to the end of its last process.

`start` begins it, `attend` hears it out. Whoever attends owns it: when that is cancelled, the command and its whole
family are stopped first (TERM, and KILL after two seconds), and `stopped` says what they were. Should the server
itself be killed, the launcher notices and does the same.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
import psutil

from turnkeeper.tools import shell_launcher

GRACE_SECONDS = 2.0
STOPPING_SECONDS = GRACE_SECONDS + shell_launcher.KILL_SECONDS + 2.0
COMMAND_BYTES_MAX = 100_000
READ_BYTES = 65_536
DRAIN_READS_MAX = 64
LOOK_SECONDS = 0.01
MARK = "TURNKEEPER_COMMAND"
"""The variable by which whatever a command started can be told, wherever it went."""

Heard = Callable[[str, bytes], None]
"""Is given the stream (`stdout` or `stderr`) and what came."""


class CommandRefused(Exception):
    """The command could not be started."""


class Exit(msgspec.Struct, frozen=True):
    """How a command ended: with a code, or by a signal."""

    code: int

    @property
    def signal(self) -> str:
        if self.code >= 0:
            return ""
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"

    @property
    def status(self) -> int:
        """What a shell would say."""
        return 128 - self.code if self.code < 0 else self.code


class Stopped(msgspec.Struct, frozen=True):
    pid: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"


class Process:
    """A command that runs. `exited` is its own end, `ended` that of the last process it left behind."""

    def __init__(
        self, popen: subprocess.Popen[bytes], control: int, status: int, outputs: Mapping[str, int], mark: str
    ) -> None:
        self.exited = anyio.Event()
        self.ended = anyio.Event()
        self.exit: Exit | None = None
        self.left: list[Stopped] = []
        self.stopped: list[Stopped] = []
        self.stuck: list[Stopped] = []
        self._popen = popen
        self._control = control
        self._status = status
        self._outputs = outputs
        self._main = 0
        self._mark = mark

    async def attend(self, heard: Heard) -> None:
        """Hear the command out, until nothing of it is left."""
        try:
            async with anyio.create_task_group() as listening:
                for stream, pipe in self._outputs.items():
                    listening.start_soon(self._listen, stream, pipe, heard)
                await self._follow(heard)
                listening.cancel_scope.cancel()
        finally:
            if not self.ended.is_set():
                with anyio.CancelScope(shield=True):
                    await self._stop_now(heard)
            for pipe in (self._control, self._status, *self._outputs.values()):
                os.close(pipe)

    def still_left(self) -> list[Stopped]:
        """What the command left behind and has not ended since, by its present names."""
        return [now for told in self.left if (now := _name_now(told))]

    def stop(self) -> None:
        """Ask for the end of everything; `ended` tells when it has come."""
        if not self.ended.is_set():
            try:
                os.write(self._control, b"s")
            except OSError:
                pass  # The launcher has ended, or has been asked often enough.

    async def _stop_now(self, heard: Heard) -> None:
        self.stop()
        with anyio.move_on_after(STOPPING_SECONDS):
            await self._follow(heard)
        if not self.ended.is_set():
            self._popen.kill()
            await self._finish(heard)

    async def _listen(self, stream: str, pipe: int, heard: Heard) -> None:
        while True:
            await anyio.wait_readable(pipe)
            try:
                data = os.read(pipe, READ_BYTES)
            except BlockingIOError:
                continue  # It was drained in between.
            if not data:
                return
            heard(stream, data)

    async def _follow(self, heard: Heard) -> None:
        """Take in what the launcher tells, until it has nothing more to tell."""
        line = b""
        while True:
            await anyio.wait_readable(self._status)
            data = os.read(self._status, READ_BYTES)
            *lines, line = (line + data).split(b"\n")
            for told in lines:
                self._take_in(told.decode("utf-8", "replace"), heard)
            if not data:
                break
        await self._finish(heard)

    def _take_in(self, line: str, heard: Heard) -> None:
        match line.split(" ", 2):
            case ["started", pid]:
                self._main = int(pid)
            case ["exit", code]:
                self._drain(heard)
                self.exit = Exit(int(code))
            case ["left", pid, name]:
                self.left.append(Stopped(int(pid), name))
            case ["stopped", pid, name]:
                self.stopped.append(Stopped(int(pid), name))
            case ["stuck", pid, name]:
                self.stuck.append(Stopped(int(pid), name))
            case _:
                raise AssertionError(f"the launcher says {line!r}")
        if self.exit is not None:
            self.exited.set()

    def _drain(self, heard: Heard) -> None:
        """What a command wrote before it ended is in the pipe by now."""
        for stream, pipe in self._outputs.items():
            for _ in range(DRAIN_READS_MAX):
                try:
                    data = os.read(pipe, READ_BYTES)
                except BlockingIOError:
                    break
                if not data:
                    break
                heard(stream, data)

    async def _finish(self, heard: Heard) -> None:
        if self.exit is None:
            # Somebody killed the launcher itself.
            with anyio.move_on_after(shell_launcher.KILL_SECONDS):
                await _kill_family(self._main, self._mark)
            self._drain(heard)
            self.exit = Exit(-signal.SIGKILL)
        self.exited.set()
        self.ended.set()
        try:
            self._popen.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:
            pass  # The kernel holds on to it; it is told as stuck.


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    apart: bool = False,
    grace_seconds: float = GRACE_SECONDS,
) -> Process:
    """Begin a command. With `apart`, what it says as an error is heard as `stderr`; else all of it is `stdout`."""
    if sum(len(word.encode("utf-8", "replace")) for word in argv) > COMMAND_BYTES_MAX:
        raise CommandRefused(f"the command is longer than {COMMAND_BYTES_MAX} bytes; put it into a file and run that")
    control_read, control = os.pipe()
    status, status_write = os.pipe()
    ends = [os.pipe() for _ in range(2 if apart else 1)]
    outputs = {"stdout": ends[0][0], **({"stderr": ends[1][0]} if apart else {})}
    ours, theirs = [control, status, *outputs.values()], [control_read, status_write, *(end[1] for end in ends)]
    mark = secrets.token_hex(8)
    try:
        popen = _launch([str(int(grace_seconds * 1000)), *argv], cwd, {**env, MARK: mark}, stdin, theirs)
    except (OSError, ValueError) as error:
        for pipe in ours:
            os.close(pipe)
        raise CommandRefused(f"the command cannot be started in {cwd}: {error}") from error
    finally:
        for pipe in theirs:
            os.close(pipe)
    for pipe in ours:
        os.set_blocking(pipe, False)
    return Process(popen, control, status, outputs, mark)


async def run(process: Process, heard: Heard, *, seconds_max: float | None) -> bool:
    """Hear a command out and stop whatever it leaves; whether it ended in time."""
    with anyio.move_on_after(seconds_max) as limit:
        async with anyio.create_task_group() as attending:
            attending.start_soon(process.attend, heard)
            await process.exited.wait()
            process.stop()
    return not limit.cancelled_caught


def _launch(
    grace_and_argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: bytes, pipes: Sequence[int]
) -> subprocess.Popen[bytes]:
    control, status, *outputs = pipes
    launcher = [sys.executable, "-I", "-S", str(shell_launcher.__file__)]
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        return subprocess.Popen(
            [*launcher, str(control), str(status), *grace_and_argv],
            cwd=cwd,
            env=dict(env),
            stdin=given if stdin else subprocess.DEVNULL,
            stdout=outputs[0],
            stderr=outputs[-1],
            pass_fds=(control, status),
            start_new_session=True,
        )


async def _kill_family(session: int, mark: str) -> None:
    """The last resort, when nobody is left who knows the family: what is still in the command's session, and what went
    into another one and carries the command's mark in its environment.

    It is looked for until there is nothing, since a process may fork between the look and the kill.
    """
    while members := _members(session, mark):
        for pid in members:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        await anyio.sleep(LOOK_SECONDS)


def _members(session: int, mark: str) -> list[int]:
    found: list[int] = []
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            if os.getsid(process.pid) == session or process.environ().get(MARK) == mark:
                found.append(process.pid)
    return found


def _name_now(told: Stopped) -> Stopped | None:
    """What the process is called by now, since it may have been seen between its fork and its exec."""
    try:
        return Stopped(told.pid, psutil.Process(told.pid).name())
    except psutil.Error:
        return None
