"""`turnkeeper config set`, `unset` and `edit`: one key changed and everything else in the file left as it was."""

import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from turnkeeper.cli.config_files import Where, checked, directory, file_of, here, where
from turnkeeper.cli.exits import Exit
from turnkeeper.cli.output import emit, is_terminal, plain, say

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
EDITORS = ("VISUAL", "EDITOR")
EDITOR = "vi"
BEGINNING = """\
# Turnkeeper's settings. 'turnkeeper config get --all' lists all there are, 'turnkeeper config check' finds mistakes.

"""


@click.command("set")
@directory
@where
@click.argument("key")
@click.argument("value")
@JSON
def set_(cwd: Path, data_dir: Path | None, target: Where | None, key: str, value: str, as_json: bool) -> None:
    """Set KEY to VALUE, in this workspace unless said otherwise.

    VALUE is written as in TOML (true, 30, "text", ["a", "b"]); what is no TOML is a text. '-' reads it from standard
    input, which is the way for secrets: what stands on a command line can be seen by others.

    \b
    turnkeeper config set waits.first_token_seconds 30
    turnkeeper config set options.disabled_tools '["bash"]'
    turnkeeper config set --everywhere providers.mine.api_key '$MY_KEY'
    """
    from turnkeeper.settings.masking import is_secret
    from turnkeeper.settings.merging import split_key

    if value == "-":
        value = from_stdin(key)
    elif is_secret(split_key(key)[-1]) and isinstance(read(value), str) and "$" not in value:
        raise click.UsageError(
            f"{key} is a secret, and a command line can be seen by others: say '-' and it is asked for, "
            "or name a variable: '$MY_KEY'"
        )
    refuse_strangers(key)
    file = file_of(target or Where.WORKSPACE, cwd, data_dir)
    written(key, value, file)
    told(key, file, cwd, data_dir, is_set=True, as_json=as_json)


def from_stdin(key: str) -> str:
    if is_terminal(sys.stdin):
        return click.prompt(key, hide_input=True, err=True)
    return sys.stdin.read().rstrip("\n")


def written(key: str, value: str, file: Path) -> None:
    """As it reads; and as a text, where that is what belongs there."""
    from turnkeeper.settings.reading import ConfigProblem

    meant = read(value)
    try:
        change(file, {key: meant})
    except ConfigProblem:
        if isinstance(meant, str):
            raise
        try:
            change(file, {key: value})
        except ConfigProblem:
            # What it would have been as a text says less about what is wrong with it.
            change(file, {key: meant})


def read(value: str) -> Any:
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, KeyError):
        return value


@click.command()
@directory
@where
@click.argument("key")
@JSON
def unset(cwd: Path, data_dir: Path | None, target: Where | None, key: str, as_json: bool) -> None:
    """Remove KEY from this workspace's file, or from the one that is named; it has then what else was said of it."""
    refuse_strangers(key)
    file = file_of(target or Where.WORKSPACE, cwd, data_dir)
    change(file, {key: None})
    told(key, file, cwd, data_dir, is_set=False, as_json=as_json)


def refuse_strangers(key: str) -> None:
    """A key that nobody would read is refused here, though a file may hold it."""
    from turnkeeper.settings.checking import unknown_key

    if strange := unknown_key(key):
        raise click.UsageError(strange)


def change(file: Path, values: dict[str, Any]) -> None:
    from turnkeeper.settings.dirs import find_dirs
    from turnkeeper.settings.editing import set_fields

    set_fields(file, values, trust_dir=find_dirs(os.environ).data)


def told(key: str, file: Path, cwd: Path, data_dir: Path | None, *, is_set: bool, as_json: bool) -> None:
    """What was done; and whoever changes a key should know that another file says something else."""
    others = list(of_others(key, file, cwd, data_dir, is_set=is_set))
    if as_json:
        emit({"key": key, "file": str(file), "set": is_set, "notices": others})
        return
    say(f"{key} is {'' if is_set else 'not '}set in {file}.")
    for line in others:
        say(line)


def of_others(key: str, file: Path, cwd: Path, data_dir: Path | None, *, is_set: bool) -> Iterator[str]:
    from turnkeeper.settings.reading import ConfigProblem

    try:
        loaded = here(cwd, data_dir)
    except ConfigProblem as problem:
        yield f"The configuration cannot be used as it is: {plain(problem.message)}"
        return
    for one in loaded.waiting:
        if one.path == file and any(key == name or key.startswith(f"{name}.") for name in one.keys):
            yield f"It takes effect when you trust that file: turnkeeper config trust {shlex.quote(str(file))}"
    stronger = loaded.settings.sources.by_key.get(key)
    if stronger and stronger.path != str(file):
        yield f"{stronger} also sets it, and {'is believed over this file' if is_set else 'that holds now'}."


@click.command()
@directory
@where
def edit(cwd: Path, data_dir: Path | None, target: Where | None) -> int:
    """Open a file of settings in your editor ($VISUAL, $EDITOR), and check it afterwards."""
    from turnkeeper.settings.reading import ConfigProblem

    file = file_of(target or Where.WORKSPACE, cwd, data_dir)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(0o600)
        file.write_text(BEGINNING, "utf-8")
    while True:
        opened(file)
        try:
            for notice in checked([file]):
                say(plain(notice))
        except ConfigProblem as problem:
            say(plain(problem.message))
            if is_terminal(sys.stdin) and click.confirm("Edit it again?", default=True, err=True):
                continue
            return Exit.USAGE
        return Exit.FINISHED


def opened(file: Path) -> None:
    named = next((os.environ[name] for name in EDITORS if os.environ.get(name)), EDITOR)
    try:
        done = subprocess.run([*shlex.split(named), str(file)], check=False)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"the editor {named} cannot be started; set EDITOR to another") from error
    if done.returncode:
        raise click.UsageError(f"the editor {named} failed with exit code {done.returncode}")
