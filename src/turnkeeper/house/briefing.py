"""What a model is told before the conversation: templates, and the facts of the workspace as they are now.

Facts are gathered again only when what they rest on has changed, so that the text stays the same as long as it can:
providers cache it.
"""

import platform
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path

import anyio
import anyio.to_thread

from turnkeeper.core import prompt
from turnkeeper.core.contextfiles import CONTEXT_NAMES, Listed, context_files
from turnkeeper.core.prompt import Document, Facts, Git, Template
from turnkeeper.protocol.secretfiles import is_secret
from turnkeeper.protocol.wire_overview import ProjectNotes
from turnkeeper.settings.dirs import under_home
from turnkeeper.settings.load import Loaded

GIT_SECONDS = 3.0
CONTEXT_READ_BYTES_MAX = 1024 * 1024
DIRECTORY_FILES_MAX = 200


@cache
def template(name: str) -> str:
    return (files("turnkeeper.core") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


class Briefing:
    """Owns the facts that were gathered last, and what they rest on."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._facts: Facts | None = None
        self._rests_on: object = None

    def changed(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._facts = None

    async def system(self, kind: str, *, model: str, provider: str, workdir: Path) -> tuple[str, ...]:
        """The system prompt for a kind of agent. A provider's own prefix is put before it where it is asked."""
        text = template(kind)
        match kind:
            case Template.CODER:
                own = self._loaded.settings.agents.get("coder")
                more = f"\n\n{own.prompt}" if own and own.prompt else ""
                return (prompt.coder(text, await self._gathered(workdir)) + more,)
            case Template.TASK | Template.RESEARCH:
                return (prompt.helper(text, await self._gathered(workdir)),)
            case _:
                return (text.strip(),)

    def initialize(self) -> str:
        as_file = self._loaded.settings.config.options.initialize_as
        return prompt.initialize(template(Template.INITIALIZE), initialize_as=as_file)

    async def notes(self, workdir: Path) -> ProjectNotes:
        """The same facts, as a person is told them."""
        facts = await self._gathered(workdir)
        paths = [Path(one.path) for one in (*facts.project_files, *facts.global_files)]
        rules = tuple(str(path.relative_to(workdir) if path.is_relative_to(workdir) else path) for path in paths)
        return ProjectNotes(facts.git.branch if facts.git else "", rules)

    async def _gathered(self, workdir: Path) -> Facts:
        rests_on = await anyio.to_thread.run_sync(self._signs, workdir)
        if self._facts is None or rests_on != self._rests_on:
            self._facts = await self._gather(workdir)
            self._rests_on = rests_on
        return self._facts

    def _signs(self, workdir: Path) -> object:
        paths = [*self._project_paths(workdir), *self._global_paths()]
        return workdir, date.today(), [(path, _stamp(path)) for path in paths], _stamp(workdir / ".git" / "HEAD")  # noqa: DTZ011

    async def _gather(self, workdir: Path) -> Facts:
        project = await anyio.to_thread.run_sync(_documents, self._project_paths(workdir))
        everywhere = await anyio.to_thread.run_sync(_documents, self._global_paths())
        return Facts(
            workdir=workdir.as_posix(),
            platform=platform.system().lower(),
            date=date.today().isoformat(),  # noqa: DTZ011 - a person's own day
            git=await _git(workdir, self._loaded.environment),
            project_files=project,
            global_files=everywhere,
        )

    def _project_paths(self, workdir: Path) -> list[Path]:
        configured = self._loaded.settings.config.options.context_paths
        named = [str(under_home(name, self._loaded.environment)) for name in configured]
        chosen = context_files(_listed(workdir, [*CONTEXT_NAMES, *named]), named)
        border = _repository_of(workdir)
        return [workdir / path for path in chosen if _may_be_told(workdir / path, border)]

    def _global_paths(self) -> list[Path]:
        named = self._loaded.settings.config.options.global_context_paths
        paths = [under_home(name, self._loaded.environment) for name in named]
        return [path for path in paths if path.is_file() and not is_secret(str(path.resolve()))]


def _repository_of(workdir: Path) -> Path:
    """The repository that the directory is in, else the directory itself."""
    real = workdir.resolve()
    return next((folder for folder in (real, *real.parents) if (folder / ".git").exists()), real)


def _may_be_told(path: Path, border: Path) -> bool:
    """Whether what a project names as its instructions may go to a model unasked: nothing that lies elsewhere."""
    real = path.resolve()
    return real.is_file() and real.is_relative_to(border) and not is_secret(str(real))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def _listed(workdir: Path, names: Iterable[str]) -> list[Listed]:
    """The files that exist under the names, whatever the case they are written in."""
    found: dict[str, Listed] = {}
    for name in names:
        parent = (workdir / name.rstrip("/")).parent
        wanted = Path(name.rstrip("/")).name.casefold()
        for path in _entries(parent):
            if path.name.casefold() != wanted:
                continue
            for file in _files_in(path) if path.is_dir() else [path]:
                shown = str(file.relative_to(workdir)) if file.is_relative_to(workdir) else str(file)
                found[shown] = Listed(shown, str(file.resolve()))
    return list(found.values())


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _files_in(folder: Path) -> list[Path]:
    files_found = sorted(path for path in folder.rglob("*") if path.is_file())
    return files_found[:DIRECTORY_FILES_MAX]


def _documents(paths: Iterable[Path]) -> tuple[Document, ...]:
    return tuple(document for path in paths if (document := _document(path)))


def _document(path: Path) -> Document | None:
    try:
        with path.open("rb") as file:
            return Document(str(path), file.read(CONTEXT_READ_BYTES_MAX).decode("utf-8", "replace"))
    except OSError:
        return None


async def _git(workdir: Path, env: Mapping[str, str]) -> Git | None:
    """The repository as git tells; None where there is none, or no git, or no answer in time."""
    if not await anyio.Path(workdir / ".git").exists():
        return None
    branch = await _told(workdir, env, "branch", "--show-current")
    status = await _told(workdir, env, "status", "--short")
    commits = await _told(workdir, env, "log", "--oneline", "-n", "3")
    return Git(branch.strip(), status.strip("\n"), commits.strip())


async def _told(workdir: Path, env: Mapping[str, str], *command: str) -> str:
    quiet = {**env, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        with anyio.fail_after(GIT_SECONDS):
            done = await anyio.run_process(["git", *command], cwd=workdir, env=quiet, check=False)
    except (OSError, TimeoutError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
