"""The projects that have been opened on this computer, latest first: remembered for whoever looks for one again."""

from collections.abc import Mapping

import msgspec

from turnkeeper.settings import atomic
from turnkeeper.settings.dirs import find_dirs
from turnkeeper.settings.reading import read_text

FILE = "projects.json"
PROJECTS_MAX = 500


class Project(msgspec.Struct, frozen=True):
    """A directory that was opened as a workspace; `last_accessed` is in Unix seconds."""

    path: str
    data_dir: str = ""
    last_accessed: int = 0


class _Projects(msgspec.Struct, frozen=True):
    projects: tuple[Project, ...] = ()


def projects(env: Mapping[str, str]) -> tuple[Project, ...]:
    """What was remembered. A file that cannot be understood remembers nothing."""
    return _read(read_text(find_dirs(env).data / FILE) or "")


def remember(env: Mapping[str, str], project: Project) -> None:
    """Note that a directory was opened, once for each directory."""

    def edit(text: str) -> str:
        others = [known for known in _read(text) if known.path != project.path]
        latest = sorted([project, *others], key=lambda known: known.last_accessed, reverse=True)
        said = msgspec.json.encode(_Projects(tuple(latest[:PROJECTS_MAX])))
        return msgspec.json.format(said, indent=2).decode() + "\n"

    atomic.change(find_dirs(env).data / FILE, edit)


def _read(text: str) -> tuple[Project, ...]:
    try:
        return msgspec.json.decode(text or "{}", type=_Projects).projects
    except msgspec.MsgspecError:
        return ()
