"""Which files the `config` commands read and write, and the options that say so."""

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from turnkeeper.settings.load import Loaded


class Where(StrEnum):
    EVERYWHERE = "everywhere"
    PROJECT = "project"
    WORKSPACE = "workspace"


def absolute(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    return path and Path(os.path.abspath(path))  # noqa: PTH100 - a link stays the name by which it was given


def directory(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which directory is meant, and where its data is."""
    there = click.Path(exists=True, file_okay=False, path_type=Path)
    folder = click.Path(file_okay=False, path_type=Path)
    for option in (
        click.option("--data-dir", "-D", type=folder, metavar="DIR", help="Where the workspace's data is."),
        click.option(
            "--cwd", "-c", type=there, default=".", callback=absolute, metavar="DIR", help="Look from this directory."
        ),
    ):
        command = option(command)
    return command


def where(command: Callable[..., Any]) -> Callable[..., Any]:
    """The three places that a person may write to; the command gets the one that was named as `target`."""
    for place, told in (
        (Where.WORKSPACE, "In this workspace's own file, which is not shared."),
        (Where.PROJECT, "In the project's turnkeeper.toml, for everybody who works on it."),
        (Where.EVERYWHERE, "In your own file, for all workspaces."),
    ):
        command = click.option(f"--{place}", "target", flag_value=place, type=Where, default=None, help=told)(command)
    return command


def here(cwd: Path, data_dir: Path | None) -> "Loaded":
    """The settings of a directory, as a server would load them for whoever has this environment."""
    from turnkeeper.settings.load import load

    return load(cwd, env=os.environ, data_dir=data_dir)


def file_of(target: Where, cwd: Path, data_dir: Path | None) -> Path:
    """The file behind one of the three places, whether it is there or not, and whatever is in the others."""
    from turnkeeper.settings.dirs import find_dirs, project_dirs
    from turnkeeper.settings.files import OUR_FILE, read_files

    match target:
        case Where.EVERYWHERE:
            return find_dirs(os.environ).config / OUR_FILE
        case Where.PROJECT:
            folders = project_dirs(cwd)
            return next(
                (one / OUR_FILE for one in reversed(folders) if (one / OUR_FILE).exists()), folders[0] / OUR_FILE
            )
        case Where.WORKSPACE:
            return read_files(cwd, env=os.environ, data_dir=data_dir).data_dir / OUR_FILE


def checked(files: Sequence[Path]) -> list[str]:
    """What is strange in files of settings; raises for what is wrong in them."""
    from turnkeeper.settings.checking import check as check_document
    from turnkeeper.settings.reading import ConfigProblem, parse, read_text
    from turnkeeper.settings.settings import Source

    notices: list[str] = []
    for path in files:
        if path.name.endswith("crushrc"):
            raise click.UsageError(f"{path} is a script; only running it tells what it says: 'turnkeeper config check'")
        text = read_text(path)
        if text is None:
            raise ConfigProblem("there is no such file", source=Source(str(path)))
        notices += [str(notice) for notice in check_document(parse(str(path), text))[1]]
    return notices
