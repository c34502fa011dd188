"""What a walk over files leaves out, and why: the one table for ls, glob, grep and their fallbacks.

Some names are left out everywhere; a pattern that asks for one of them by name gets it. Beyond that the ignore files
decide, from the root of the repository down, the nearest last, as git reads them.
"""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

# Never of interest to anybody who looks for files, whatever the pattern.
ALWAYS_SKIPPED = frozenset({".git", ".svn", ".hg", ".bzr", ".crush", ".turnkeeper", ".Trash", ".Spotlight-V100"})
SKIPPED_BY_GLOB = frozenset(
    """node_modules vendor dist build target .git .idea .vscode __pycache__ bin obj out coverage logs generated
    bower_components jspm_packages .crush .turnkeeper""".split()  # noqa: SIM905
)
SKIPPED_FOLDERS = frozenset(
    """.git .svn .hg .bzr .vscode .idea node_modules __pycache__ .pytest_cache .cache .tmp .Trash .Spotlight-V100
    .fseventsd .crush .turnkeeper OrbStack .local .share""".split()  # noqa: SIM905
)
SKIPPED_PATTERNS = tuple(
    """*.swp *.swo *~ .DS_Store Thumbs.db target build dist out bin obj *.o *.so *.dylib *.dll *.exe *.log *.tmp *.temp
    *.pyc *.pyo vendor Cargo.lock package-lock.json yarn.lock pnpm-lock.yaml""".split()  # noqa: SIM905
)
OWN_IGNORE_FILES = (".crushignore", ".turnkeeperignore")
IGNORE_FILES = (".gitignore", ".ignore", *OWN_IGNORE_FILES)
IGNORE_BYTES_MAX = 1024 * 1024
RULE_LETTERS_MAX = 1000
STARS_MAX = 3
COMMON = GitIgnoreSpec.from_lines([*SKIPPED_FOLDERS, *SKIPPED_PATTERNS])


@dataclass(frozen=True)
class Layer:
    """One folder's ignore rules."""

    folder: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Ignored, wanted, or nothing said."""
        relative = os.path.relpath(path, self.folder).replace(os.sep, "/")
        return self.spec.check_file(f"{relative}/" if folder else relative).include


@dataclass
class Ignoring:
    """The rules that hold below one root; layers of folders are read once, when a walk comes there."""

    names: Sequence[str] = IGNORE_FILES
    common: bool = True
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    _known: dict[str, tuple[Layer, ...]] = field(default_factory=dict[str, tuple[Layer, ...]])

    def above(self, root: Path) -> tuple[Layer, ...]:
        """The layers that hold at a root: the person's own, then those of the folders from the repository down.

        There are none where they would leave out the root itself: whoever looks there means it.
        """
        folders = [root]
        while not (folders[-1] / ".git").exists() and folders[-1].parent != folders[-1]:
            folders.append(folders[-1].parent)
        layers = personal(folders[-1], self.env) if ".gitignore" in self.names else ()
        for folder in reversed(folders[1:]):
            layers = (*layers, *read_layers(str(folder), self.names))
        return () if any(layer.verdict(str(root), folder=True) for layer in layers) else layers

    def within(self, folder: str, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
        return (*layers, *read_layers(folder, self.names))

    def skips(self, path: str, layers: Sequence[Layer], *, folder: bool) -> bool:
        for layer in reversed(layers):
            if (verdict := layer.verdict(path, folder=folder)) is not None:
                return verdict
        name = os.path.basename(path)  # noqa: PTH119 - a walk over 100 000 files makes no Path of each
        return self.common and bool(COMMON.check_file(f"{name}/" if folder else name).include)

    def own(self, folder: str, root: str) -> tuple[Layer, ...]:
        """The layers of our own ignore files from the root down to a folder, each read once."""
        if folder not in self._known:
            above = self.own(os.path.dirname(folder), root) if folder != root else ()  # noqa: PTH120
            self._known[folder] = (*above, *read_layers(folder, OWN_IGNORE_FILES))
        return self._known[folder]


def read_layers(folder: str, names: Sequence[str]) -> list[Layer]:
    """The rules of a folder's ignore files, the strongest last."""
    return [Layer(folder, spec) for name in names if (spec := read_spec(f"{folder.rstrip('/')}/{name}"))]


def read_spec(path: str) -> GitIgnoreSpec | None:
    """The rules of a file; none, where something else than a file has its name: a pipe would be waited for."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace", opener=without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            lines = file.read(IGNORE_BYTES_MAX).splitlines()
    except (OSError, ValueError):
        return None
    return spec_of([line for line in lines if is_bounded(line)])


def without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def is_bounded(line: str) -> bool:
    """Whether a rule is matched in bounded time: each star of one name multiplies it by the length of the name."""
    return len(line) <= RULE_LETTERS_MAX and all(len(re.findall(r"\*+", name)) <= STARS_MAX for name in line.split("/"))


def spec_of(lines: Sequence[str]) -> GitIgnoreSpec:
    """The rules that can be read; a line that is no pattern ignores nothing."""
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in lines if readable(line)])


def readable(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def personal(top: Path, env: Mapping[str, str]) -> tuple[Layer, ...]:
    """What the person has git ignore everywhere, what the program is told to, and the repository's private rules."""
    home, config = config_of(env)
    files = (excludes_file(home, config), *ignored_everywhere(env), top / ".git" / "info" / "exclude")
    return tuple(Layer(str(top), spec) for file in files if (spec := read_spec(str(file))))


def ignored_everywhere(env: Mapping[str, str]) -> tuple[Path, ...]:
    """What the person has this program pass over in every project, the strongest last."""
    _, config = config_of(env)
    return config / "crush" / "ignore", Path(env.get("TURNKEEPER_CONFIG_DIR") or config / "turnkeeper") / "ignore"


def config_of(env: Mapping[str, str]) -> tuple[Path, Path]:
    """The person's home, and where programs keep what they are told."""
    home = Path(env.get("HOME") or Path.home())
    return home, Path(env.get("XDG_CONFIG_HOME") or home / ".config")


def excludes_file(home: Path, config: Path) -> Path:
    """git's `core.excludesFile`, where it is set, or its default."""
    for file in (home / ".gitconfig", config / "git" / "config"):
        try:
            text = file.read_text("utf-8", errors="replace")
        except OSError:
            continue
        if found := re.search(r'^\s*excludesfile\s*=\s*"?([^"\n]+?)"?\s*$', text, re.IGNORECASE | re.MULTILINE):
            return home / found[1].removeprefix("~/")
    return config / "git" / "ignore"
