"""The files that speak for a workspace, in the order in which they are believed, read and merged.

    system      /etc/crush/crush.json, /etc/turnkeeper/turnkeeper.toml
    user        crush.json, crushrc and turnkeeper.toml of the directories for configuration
    machine     crush.json and turnkeeper.toml of the directories for data: what programs wrote down
    project     from the project's root down to the working directory, in each directory
                crush.json < .crush.json < crushrc < .crushrc < turnkeeper.toml < .turnkeeper.toml
    workspace   crush.json and turnkeeper.toml of the workspace's own data directory
    variables   TURNKEEPER_…

The later wins, and ours over the original's at the same level. Reading may run scripts, so it belongs in a worker
thread.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from turnkeeper.settings import dirs, marks
from turnkeeper.settings.checking import check
from turnkeeper.settings.crushrc import run_script
from turnkeeper.settings.environment import from_environment, harmless_variables, is_true, parse_dotenv
from turnkeeper.settings.known import KEY_VARIABLES
from turnkeeper.settings.merging import merge, overlapping
from turnkeeper.settings.reading import ConfigProblem, Document, Tree, as_tree, line_numbers, parse, read_text
from turnkeeper.settings.settings import Notice, Source
from turnkeeper.settings.trust import Trust, harmless, load_trust, risky, text_digest, tree_digest

OUR_FILE = "turnkeeper.toml"
CRUSH_FILE = "crush.json"
PROJECT_FILES = (CRUSH_FILE, f".{CRUSH_FILE}", "crushrc", ".crushrc", OUR_FILE, f".{OUR_FILE}")
TRUST_VARIABLE = "TURNKEEPER_TRUST_PROJECTS"

Level = Literal["system", "user", "machine", "project", "workspace"]


class Place(msgspec.Struct, frozen=True):
    """A file that would be read if it existed."""

    path: Path
    level: Level

    @property
    def is_script(self) -> bool:
        return self.path.name.endswith("crushrc")

    @property
    def needs_trust(self) -> bool:
        """What lies in a project may come from anybody."""
        return self.level in ("project", "workspace")


class Stamp(msgspec.Struct, frozen=True):
    """What a file looked like from outside when it was read; None when it was not there."""

    path: Path
    look: tuple[int, int, int] | None = None


class Waiting(msgspec.Struct, frozen=True):
    """What is set aside until a person trusts it: `trust(data_dir, path, digest)` says that they do."""

    path: Path
    digest: str
    keys: tuple[str, ...] = ()


@dataclass
class Files:
    """All that was read for one workspace. With a `problem`, nothing of it may be used."""

    workdir: Path
    data_dir: Path
    env: Mapping[str, str] = field(repr=False)
    """The client's variables, with the project's `.env` under them."""
    inherited: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The client's variables alone."""
    tree: Tree = field(default_factory=dict[str, object], repr=False)
    lines: dict[str, Source] = field(default_factory=dict[str, Source], repr=False)
    stamps: list[Stamp] = field(default_factory=list[Stamp])
    notices: list[Notice] = field(default_factory=list[Notice])
    waiting: list[Waiting] = field(default_factory=list[Waiting])
    problem: ConfigProblem | None = None


def read_files(workdir: Path, *, env: Mapping[str, str], data_dir: Path | None = None, version: str = "") -> Files:
    """Read all that speaks for `workdir`. What is wrong is in the answer, so that a caller can go on with the old."""
    files = Files(workdir=workdir, data_dir=dirs.find_data_dir(workdir, given=data_dir), env=env, inherited=env)
    try:
        _Reader(files, version).read(data_dir)
    except ConfigProblem as problem:
        files.problem = problem
    return files


def places(workdir: Path, env: Mapping[str, str]) -> Iterator[Place]:
    """All files but the workspace's own, whose directory these may name."""
    ours = dirs.find_dirs(env)
    yield Place(dirs.crush_system_dir(env) / CRUSH_FILE, "system")
    yield Place(ours.system / OUR_FILE, "system")
    yield Place(dirs.crush_config_dir(env) / CRUSH_FILE, "user")
    yield Place(dirs.crush_config_dir(env) / "crushrc", "user")
    yield Place(ours.config / OUR_FILE, "user")
    yield Place(dirs.crush_data_dir(env) / CRUSH_FILE, "machine")
    yield Place(ours.data / OUR_FILE, "machine")
    for folder in dirs.project_dirs(workdir):
        yield from (Place(folder / name, "project") for name in PROJECT_FILES)


def workspace_places(workdir: Path, data_dir: Path) -> Iterator[Place]:
    original = dirs.find_data_dir(workdir, name=dirs.CRUSH_DATA_DIR_NAME)
    for folder in dict.fromkeys((original, data_dir)):
        yield Place(folder / CRUSH_FILE, "workspace")
    yield Place(data_dir / OUR_FILE, "workspace")


class _Reader:
    """One reading; owns what has been merged so far."""

    def __init__(self, files: Files, version: str) -> None:
        self._files = files
        self._version = version
        self._trust: Trust = load_trust(
            dirs.find_dirs(files.env).data, everything=is_true(files.env.get(TRUST_VARIABLE, ""))
        )
        # Who trusts a file elsewhere has changed what is read here.
        files.stamps.append(Stamp(self._trust.path, look(self._trust.path)))
        self._beside: dict[Path, Tree] = {}

    def read(self, data_dir: Path | None) -> None:
        files = self._files
        self._dotenv()
        for place in places(files.workdir, files.env):
            self._place(place)
        if data_dir is None and (named := (as_tree(files.tree.get("options")) or {}).get("data_directory")):
            given = dirs.under_home(str(named), files.env)
            files.data_dir = dirs.find_data_dir(files.workdir, given=given)
        for place in workspace_places(files.workdir, files.data_dir):
            self._place(place)
        tree, notices = from_environment(files.env)
        files.notices += notices
        self._merge(Document(path="environment", text="", tree=tree), tree)

    def _dotenv(self) -> None:
        """The project's `.env`, below what the client brought along. Keys are taken as they are; all else waits."""
        files, path = self._files, self._files.workdir / ".env"
        text = self._text(path)
        if not text:
            return
        variables = parse_dotenv(text)
        if not self._trust.of(path, text_digest(text)):
            kept = harmless_variables(variables)
            self._set_aside(path, text_digest(text), tuple(sorted(variables.keys() - kept.keys())))
            variables = kept
        files.env = {**variables, **files.env}

    def _place(self, place: Place) -> None:
        text = self._text(place.path)
        if text is None:
            return
        document = self._script(place, text) if place.is_script else parse(str(place.path), text)
        if document is None:
            return
        tree, notices = check(document)
        self._files.notices += notices
        if place.needs_trust and not place.is_script:
            tree = self._trusted(place, tree)
        self._compare(place, tree)
        self._merge(document, tree)

    def _text(self, path: Path) -> str | None:
        self._files.stamps.append(Stamp(path, look(path)))
        return read_text(path)

    def _script(self, place: Place, text: str) -> Document | None:
        if place.needs_trust and not self._trust.of(place.path, text_digest(text)):
            return self._set_aside(place.path, text_digest(text), ())
        return run_script(place.path, text, env=self._files.env, below=self._files.tree, version=self._version)

    def _trusted(self, place: Place, tree: Tree) -> Tree:
        if not risky(tree) or self._trust.of(place.path, digest := tree_digest(tree)):
            return tree
        keyed = {*KEY_VARIABLES, *(as_tree(self._files.tree.get("providers")) or {})}
        keys = tuple(marks.dotted(path) for path in risky(tree, keyed=keyed))
        if keys:
            self._set_aside(place.path, digest, keys)
        return harmless(tree, keyed=keyed)

    def _set_aside(self, path: Path, digest: str, keys: tuple[str, ...]) -> None:
        self._files.waiting.append(Waiting(path, digest, keys))
        what = ", ".join(keys) or "this script"
        self._files.notices.append(Notice(f"{what}: set aside until you trust this file", Source(str(path))))

    def _compare(self, place: Place, tree: Tree) -> None:
        """A directory that says one thing twice, in JSON and in a script, has probably forgotten one of them."""
        if not place.is_script:
            if place.path.name.endswith(CRUSH_FILE):
                self._beside[place.path.parent] = merge(self._beside.get(place.path.parent, {}), tree)
            return
        keys = sorted(marks.dotted(path) for path in overlapping(self._beside.get(place.path.parent, {}), tree))
        if keys:
            message = f"{', '.join(keys)}: also said in {CRUSH_FILE} beside it, and decided here"
            self._files.notices.append(Notice(message, Source(str(place.path))))

    def _merge(self, document: Document, tree: Tree) -> None:
        files = self._files
        files.tree = merge(files.tree, tree)
        numbers = line_numbers(document)
        for path in _paths(tree):
            files.lines[marks.dotted(path)] = Source(document.path, numbers.get(path, 0))


def look(path: Path) -> tuple[int, int, int] | None:
    """Size, time of change and number of the file: one of them differs after any write."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _paths(tree: Tree, at: marks.Path = ()) -> Iterator[marks.Path]:
    for key, value in tree.items():
        yield (*at, key)
        if (inner := as_tree(value)) is not None:
            yield from _paths(inner, (*at, key))
