"""A home, a project in it, and an environment of their own, in which settings are loaded."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turnkeeper.settings.files import Files, read_files
from turnkeeper.settings.load import Loaded, load
from turnkeeper.settings.settings import Settings
from turnkeeper.settings.trust import trust


class Scene:
    """One person on one machine with one project; `write` takes a place such as `user` and a name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "home" / "code" / "project"
        (self.project / ".git").mkdir(parents=True)
        self.env: dict[str, str] = {
            "HOME": str(root / "home"),
            "PATH": os.environ["PATH"],
            "TURNKEEPER_SYSTEM_DIR": str(root / "etc" / "turnkeeper"),
        }
        home = root / "home"
        self.places = {
            "crush system": root / "etc" / "crush",
            "system": root / "etc" / "turnkeeper",
            "crush user": home / ".config" / "crush",
            "user": home / ".config" / "turnkeeper",
            "crush machine": home / ".local" / "share" / "crush",
            "machine": home / ".local" / "share" / "turnkeeper",
            "project": self.project,
            "crush workspace": self.project / ".crush",
            "workspace": self.project / ".turnkeeper",
        }

    def write(self, place: str, name: str, text: str) -> Path:
        path = self.places[place] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def read(self) -> Files:
        return read_files(self.project, env=self.env)

    def load(self, workdir: Path | None = None, **more: Any) -> Loaded:
        return load(workdir or self.project, env=self.env, **more)

    def settings(self) -> Settings:
        return self.load().settings

    def trust_all(self) -> None:
        """Say of everything that waits that it is trusted."""
        for waiting in self.load().waiting:
            trust(self.places["machine"], waiting.path, waiting.digest)


def messages(loaded: Loaded) -> list[str]:
    return [notice.message for notice in loaded.notices]


def only(mapping: Mapping[str, Any]) -> Any:
    """The one value there is."""
    (value,) = mapping.values()
    return value
