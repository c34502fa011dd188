"""The command line as a person uses it: real processes, a home and sockets of their own."""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen
from subprocess import run as run_process
from tempfile import TemporaryDirectory
from textwrap import dedent

import msgspec

from turnkeeper.models.scripted import Script, Turn

COMMAND = (sys.executable, "-P", "-m", "turnkeeper")
SECONDS_MAX = 30.0


@dataclass
class Home:
    """A home with nothing in it, and a directory to work in."""

    path: Path
    env: dict[str, str] = field(default_factory=dict[str, str])

    directory: str = "project"

    @property
    def project(self) -> Path:
        return self.path / self.directory

    def at(self, directory: str) -> "Home":
        """Another directory of the same home, and so of the same server."""
        (self.path / directory).mkdir(exist_ok=True)
        return replace(self, directory=directory)

    def script(self, *turns: Turn, again: bool = False) -> None:
        """What the model will say in this directory, from the next prompt on."""
        path = self.path / f"{self.directory}.script.json"
        path.write_bytes(msgspec.json.encode(Script(turns, again=again)))
        self.configure(f"""
            [providers.scripted]
            type = "scripted"
            base_url = "{path}"
            [providers.offline]
            type = "offline"
            [models.large]
            provider = "scripted"
            model = "scripted"
            [models.small]
            provider = "offline"
            model = "offline"
        """)

    def configure(self, toml: str) -> None:
        (self.project / "turnkeeper.toml").write_text(dedent(toml))

    def run(self, *arguments: str, stdin: int | None = DEVNULL, **env: str) -> CompletedProcess[str]:
        """One command, from its first word to its exit code."""
        return run_process(
            [*COMMAND, *arguments],
            cwd=self.project,
            env={**self.env, **env},
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )

    def begin(
        self, *arguments: str, stdin: int = DEVNULL, stdout: int = PIPE, stderr: int = PIPE, **env: str
    ) -> Popen[str]:
        """A command that goes on beside the test."""
        return Popen(
            [*COMMAND, *arguments],
            cwd=self.project,
            env={**self.env, **env},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
        )

    def server_pids(self) -> list[int]:
        """Every server that was started from here and still runs."""
        found: list[int] = []
        for folder in Path("/proc").iterdir():
            try:
                environment = (folder / "environ").read_bytes()
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"HOME={self.path}\0".encode() in environment and b"server" in words:
                found.append(int(folder.name))
        return found


@contextmanager
def home(**env: str) -> Generator[Home]:
    """The home, until the block ends; so do the servers that were started in it."""
    with TemporaryDirectory(prefix="tk-") as folder:
        path = Path(folder)
        (path / "project").mkdir()
        (path / "run").mkdir(mode=0o700)
        own = {
            "HOME": str(path),
            "XDG_RUNTIME_DIR": str(path / "run"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TURNKEEPER_SERVER_IDLE_TIMEOUT": "1",
        }
        scene = Home(path, own | env)
        try:
            yield scene
        finally:
            for pid in scene.server_pids():
                os.kill(pid, signal.SIGKILL)
