"""Settings for a workspace: loaded at the start, again when a file has changed, and kept when the new ones are wrong.

`load` reads files and may run trusted scripts, so a server calls it from a worker thread. `settle` and `reload` are
pure.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from turnkeeper import __version__
from turnkeeper.protocol.config import Config, SelectedModel
from turnkeeper.settings.checking import check
from turnkeeper.settings.defaults import agents, completed
from turnkeeper.settings.environment import GROUPS
from turnkeeper.settings.files import Files, Stamp, Waiting, look, read_files
from turnkeeper.settings.merging import merge, without
from turnkeeper.settings.reading import ConfigProblem, Document, Tree
from turnkeeper.settings.settings import Agent, Notice, PermissionRule, Settings, Shell, Sources
from turnkeeper.settings.trust import TRUST_FILE

FLAGS = "command line"


@dataclass(frozen=True)
class Loaded:
    """Settings that can be used, with what a person should be told of them."""

    settings: Settings
    notices: tuple[Notice, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The client's variables and the project's, for expanding values and starting programs."""
    inherited: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The client's variables alone: what the files are read again with, since a `.env` may have changed too."""
    stamps: tuple[Stamp, ...] = field(default=(), repr=False)
    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    problem: ConfigProblem | None = None
    """Why the newest files are not in use."""

    @property
    def files(self) -> tuple[Path, ...]:
        """What was read, the weakest first."""
        return tuple(stamp.path for stamp in self.stamps if stamp.look and stamp.path.name != TRUST_FILE)


def load(
    workdir: Path,
    *,
    env: Mapping[str, str],
    data_dir: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Loaded:
    """The settings for `workdir`, as whoever has this environment means them; raises `ConfigProblem`.

    `overrides` stand above all files: flags of a command line, and models that were chosen while running.
    """
    workdir = Path(os.path.abspath(workdir))  # noqa: PTH100 (a link stays the name by which it was given)
    return settle(read_files(workdir, env=env, data_dir=data_dir, version=__version__), overrides or {})


def settle(files: Files, overrides: Mapping[str, Any]) -> Loaded:
    """What was read, made into settings."""
    if files.problem:
        raise files.problem
    above, notices = check(Document(path=FLAGS, text="", tree=dict(overrides)))
    tree = _above(files.tree, above)
    try:
        settings = _settings(files, tree)
    except msgspec.ValidationError as error:
        raise ConfigProblem(str(error)) from error
    return Loaded(
        settings=settings,
        notices=(*files.notices, *notices),
        waiting=tuple(files.waiting),
        environment=files.env,
        inherited=files.inherited,
        stamps=tuple(files.stamps),
        overrides=overrides,
    )


def reload(previous: Loaded, files: Files) -> Loaded:
    """The settings of the newly read files; the previous ones, with the reason, when these are wrong.

    Overrides go on to hold, so a model chosen here is not switched by somebody else's writing.
    """
    try:
        return settle(files, previous.overrides)
    except ConfigProblem as problem:
        return replace(previous, problem=problem, stamps=tuple(files.stamps))


def reread(previous: Loaded) -> Loaded:
    """Read the files again, for the same directory and the same client. The data directory is in use and stays."""
    settings = previous.settings
    files = read_files(settings.workdir, env=previous.inherited, data_dir=settings.data_dir, version=__version__)
    return reload(previous, files)


def with_model(loaded: Loaded, slot: str, model: SelectedModel) -> Loaded:
    """The same settings with a model chosen by hand, which holds through every reload."""
    models = {**loaded.overrides.get("models", {}), slot: msgspec.to_builtins(model)}
    config = loaded.settings.config
    chosen = msgspec.structs.replace(config, models={**config.models, slot: model})
    return replace(
        loaded,
        settings=msgspec.structs.replace(loaded.settings, config=chosen),
        overrides={**loaded.overrides, "models": models},
    )


def stale(stamps: tuple[Stamp, ...]) -> tuple[Path, ...]:
    """The files that came, went or changed since they were read, in the order of their precedence."""
    return tuple(stamp.path for stamp in stamps if look(stamp.path) != stamp.look)


def _above(tree: Tree, overrides: Tree) -> Tree:
    """A model that was chosen replaces the whole of the one before it, which was asked differently."""
    for slot in overrides.get("models", {}):
        tree = without(tree, ("models", slot))
    return merge(tree, overrides)


def _settings(files: Files, tree: Tree) -> Settings:
    config = completed(msgspec.convert(tree, Config), env=files.env, data_dir=files.data_dir)
    groups = {name: msgspec.convert(tree.get(name, {}), kind) for name, kind in GROUPS.items()}
    return Settings(
        config=config,
        workdir=files.workdir,
        data_dir=files.data_dir,
        agents=agents(msgspec.convert(tree.get("agents", {}), dict[str, Agent])),
        rules=msgspec.convert(tree.get("rules", []), tuple[PermissionRule, ...]),
        shell=msgspec.convert(tree.get("shell", {}), Shell),
        sources=Sources(files.lines),
        **groups,  # pyright: ignore[reportArgumentType] (each name's own type, by the table of groups)
    )
