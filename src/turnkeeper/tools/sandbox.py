"""A sandbox for commands: the workspace may be written, the rest of the disk is read, and the network is off or on.

It is bubblewrap's, on Linux. Whoever asks for a sandbox gets one or a clear refusal: nothing here pretends.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from turnkeeper.tools.shell_process import CommandRefused

PROBE_SECONDS = 10


class SandboxUnavailable(CommandRefused):
    """Commands are to run in a sandbox, and this computer has none."""


@dataclass(frozen=True)
class Sandbox:
    """What a command may touch. `readonly` takes parts of what is writable back, such as `.git/hooks`."""

    writable: tuple[Path, ...]
    network: tuple[str, ...] = ()
    """Which commands reach it, as patterns; a line does when each of its parts matches one."""
    readonly: tuple[Path, ...] = ()
    program: str = "bwrap"

    @cached_property
    def lack(self) -> str:
        """Why there can be no sandbox here; empty when there can. It is tried once."""
        if not sys.platform.startswith("linux"):
            return "bubblewrap exists on Linux only"
        found = shutil.which(self.program)
        if found is None:
            return f"{self.program} is not installed; it comes with the package bubblewrap"
        argv = [found, *self._options(), "--", "/bin/sh", "-c", ":"]
        try:
            tried = subprocess.run(argv, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{self.program} does not work here: {error}"
        return "" if tried.returncode == 0 else f"{self.program} does not work here: {tried.stderr.strip()}"

    def probe(self) -> None:
        """Find out whether there can be one here, which takes a moment the first time."""
        _ = self.lack

    def wrapped(self, argv: Sequence[str], *, workdir: Path, parts: Sequence[str] = ()) -> list[str]:
        """The same command, of these parts, within the sandbox; raises `SandboxUnavailable`."""
        if self.lack:
            raise SandboxUnavailable(f"the settings ask for a sandbox, but {self.lack}")
        return [
            shutil.which(self.program) or self.program,
            *self._options(online=self.reaches(parts)),
            "--chdir",
            str(workdir),
            "--",
            *argv,
        ]

    def reaches(self, parts: Sequence[str]) -> bool:
        """Whether a line of these parts may reach the network."""
        return bool(parts) and all(any(fnmatchcase(part, pattern) for pattern in self.network) for part in parts)

    def _options(self, *, online: bool = False) -> list[str]:
        """Later mounts lie on top of earlier ones."""
        options = ["--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        options += [] if online else ["--unshare-net"]
        options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"]
        if online:
            # The resolver's file is often a link into /run.
            options += ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
        for path in self.writable:
            options += ["--bind", str(path), str(path)]
        for path in self.readonly:
            options += ["--ro-bind-try", str(path), str(path)]
        return options
