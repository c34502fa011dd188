"""A crushrc run by a real bash, with the words of `words.py` as functions; what it said becomes a document.

It runs in its own directory, in the environment that is given, with nothing on its standard input, in a session of its
own, and for `SCRIPT_SECONDS` at most; then it and all that it started are gone. A wrong word or a failing end of the
script is a problem with the file and, where a word was wrong, its line. This waits, so call it from a worker thread.
"""

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

from turnkeeper.settings import marks
from turnkeeper.settings.expansion import scrubbed
from turnkeeper.settings.reading import ConfigProblem, Document, Tree
from turnkeeper.settings.settings import Source
from turnkeeper.settings.words import Words, WrongWord

SCRIPT_SECONDS = 30
PAUSE_SECONDS = 0.05
"""Between two looks whether the script has ended while something it started still holds its pipes."""
REQUEST_BYTES_MAX = 1 << 20
DESCRIPTORS = "/dev/fd/"
PREAMBLE = Path(__file__).with_name("crushrc.bash")
VERSION_VARIABLE = "CRUSH_VERSION"


def run_script(path: Path, text: str, *, env: Mapping[str, str], below: Tree, version: str) -> Document:
    """What a script says, over what was said before it.

    What runs is `text`, whatever is in the file by now: that is what somebody has trusted.
    """
    bash = shutil.which("bash", path=env.get("PATH"))
    if bash is None:
        raise ConfigProblem("needs bash, which is not installed", source=Source(str(path)))
    with TemporaryFile() as script:
        script.write(text.encode())
        script.flush()
        script.seek(0)
        return _Script(path, below).run(bash, script.fileno(), {**env, VERSION_VARIABLE: version})


class _Script:
    """One script while it runs; owns what it has said, where, and what was wrong."""

    def __init__(self, path: Path, below: Tree) -> None:
        self._path = path
        self._words = Words(below)
        self._lines: dict[marks.Path, int] = {}
        self._wrong: list[ConfigProblem] = []
        self._unread = b""

    def run(self, bash: str, script: int, env: dict[str, str]) -> Document:
        requests, telling = os.pipe()
        hearing, replies = os.pipe()
        env = {name: value for name, value in env.items() if name not in ("BASH_ENV", "ENV")}
        told = f"__turnkeeper_requests={telling} __turnkeeper_replies={hearing}"
        command = f'{told}; source "$1"; source "$2"'
        with (
            os.fdopen(requests, "rb", buffering=0) as asked,
            os.fdopen(replies, "wb", buffering=0) as answered,
            subprocess.Popen(
                [bash, "--noprofile", "--norc", "-c", command, "crushrc", str(PREAMBLE), f"{DESCRIPTORS}{script}"],
                cwd=self._path.parent,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(script, telling, hearing),
                start_new_session=True,
            ) as process,
        ):
            os.close(telling)
            os.close(hearing)
            assert process.stderr is not None
            try:
                complaint = self._listen(process, asked.fileno(), answered.fileno(), process.stderr.fileno())
                status = process.wait(timeout=1)
            except (TimeoutError, subprocess.TimeoutExpired) as error:
                raise self._problem(f"did not end within {SCRIPT_SECONDS} seconds") from error
            finally:
                _end(process)
        return self._document(status, scrubbed(complaint.decode("utf-8", "replace"), env))

    def _listen(self, process: "subprocess.Popen[bytes]", asked: int, answered: int, complaints: int) -> bytes:
        """Answer until the script has ended, whatever it left behind; returns what it complained of."""
        deadline, complaint = time.monotonic() + SCRIPT_SECONDS, b""
        with selectors.DefaultSelector() as waiting:
            waiting.register(asked, selectors.EVENT_READ)
            waiting.register(complaints, selectors.EVENT_READ)
            while waiting.get_map():
                ended = process.poll() is not None
                ready = waiting.select(0 if ended else PAUSE_SECONDS)
                if ended and not ready:
                    break
                if time.monotonic() > deadline:
                    raise TimeoutError
                for channel in (key.fd for key, _ in ready):
                    piece = os.read(channel, 65_536)
                    if not piece:
                        waiting.unregister(channel)
                    elif channel == complaints:
                        complaint = (complaint + piece)[-REQUEST_BYTES_MAX:]
                    else:
                        self._hear(piece, answered)
        return complaint

    def _hear(self, piece: bytes, answered: int) -> None:
        """A request is a count and then so many words, each ended by a zero byte."""
        self._unread += piece
        if len(self._unread) > REQUEST_BYTES_MAX:
            raise self._problem(f"said more than {REQUEST_BYTES_MAX} bytes at once")
        while True:
            count, found, rest = self._unread.partition(b"\0")
            words = rest.split(b"\0")
            if not found or len(words) <= int(count):
                return
            self._unread = b"\0".join(words[int(count) :])
            file, line, word, *arguments = (item.decode("utf-8", "replace") for item in words[: int(count)])
            os.write(answered, self._answer(file, int(line), word, arguments))

    def _answer(self, file: str, line: int, word: str, arguments: list[str]) -> bytes:
        own = not file or file.startswith(DESCRIPTORS)
        before = set(_paths(self._words.tree))
        try:
            said, complaint = self._words.say(word, arguments), ""
        except WrongWord as problem:
            said, complaint = "", f"{word} {' '.join(arguments[:2])}: {problem}"
            place = Source(str(self._path if own else self._path.parent / file), line)
            self._wrong.append(ConfigProblem(complaint, source=place))
        for path in set(_paths(self._words.tree)) - before:
            self._lines[path] = line if own else 0
        return f"{int(bool(complaint))}\0{said}\0{complaint}\0".encode()

    def _document(self, status: int, complaint: str) -> Document:
        if self._wrong:
            first, *others = self._wrong
            message = str(first).partition(": ")[2]
            raise ConfigProblem(message, source=first.source, also=others)
        if status:
            raise self._problem(f"ended with {status}" + (f": {complaint}" if complaint else ""))
        return Document(path=str(self._path), text="", tree=self._words.tree, lines=self._lines)

    def _problem(self, message: str) -> ConfigProblem:
        return ConfigProblem(message, source=Source(str(self._path)))


def _paths(tree: Tree, at: marks.Path = ()) -> list[marks.Path]:
    found: list[marks.Path] = []
    for key, value in tree.items():
        path = (*at, key)
        found.append(path)
        if isinstance(value, dict):
            found.extend(_paths(value, path))  # pyright: ignore[reportUnknownArgumentType]
    return found


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
