"""The command line as a person uses it: real processes, a home and sockets of their own."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

COMMAND = (sys.executable, "-P", "-m", "turnkeeper")
SECONDS_MAX = 30.0


@dataclass
class Home:
    """A home with nothing in it, and a directory to work in."""

    path: Path
    env: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def project(self) -> Path:
        return self.path / "project"

    def run(
        self, *arguments: str, stdin: int | None = subprocess.DEVNULL, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """One command, from its first word to its exit code."""
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.project,
            env={**self.env, **env},
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )

    def begin(self, *arguments: str, stdin: int | None = DEVNULL, **env: str) -> subprocess.Popen[str]:
        """A command that goes on beside the test."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.project,
            env={**self.env, **env},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
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
