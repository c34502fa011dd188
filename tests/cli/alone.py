"""The command line in this process with no server anywhere: a home with nothing in it, and a project to stand in."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.inside import Done, command


@dataclass
class Alone:
    home: Path
    patch: pytest.MonkeyPatch

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def everywhere(self) -> Path:
        return self.home / ".config" / "turnkeeper" / "turnkeeper.toml"

    @property
    def keys(self) -> Path:
        return self.home / ".local" / "share" / "turnkeeper" / "turnkeeper.toml"

    @property
    def workspace(self) -> Path:
        return self.project / ".turnkeeper" / "turnkeeper.toml"

    def write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def tk(self, *arguments: str, stdin: str = "") -> Done:
        """One command, with `stdin` piped in."""
        self.patch.setattr("sys.stdin", io.StringIO(stdin))
        return command(tuple(arguments))

    def lines(self, *arguments: str) -> Sequence[str]:
        return self.tk(*arguments).out.splitlines()


def alone(home: Path, patch: pytest.MonkeyPatch) -> Alone:
    """In a home of its own, with none of the variables by which another might be found."""
    (home / "project" / ".git").mkdir(parents=True)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "NO_COLOR", "FORCE_COLOR"):
        patch.delenv(name, raising=False)
    patch.setenv("HOME", str(home))
    patch.setenv("TURNKEEPER_SYSTEM_DIR", str(home / "etc" / "turnkeeper"))
    patch.chdir(home / "project")
    return Alone(home, patch)
