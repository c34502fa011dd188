"""`turnkeeper login` and `logout`: a provider's key, asked for without being shown, and kept for its owner alone.

A key is never an argument: what stands on a command line is seen by every program of the computer.
"""

import difflib
import os
import sys
from pathlib import Path

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.output import emit, is_terminal, say, table

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
KEY_BYTES_MAX = 64 * 1024


@click.command("login")
@click.argument("provider", required=False)
@click.option("--keyring/--file", "in_keyring", default=None, help="Keep it in the system's keyring, or in a file.")
@click.option("--list", "only_list", is_flag=True, help="List the providers that are known.")
@JSON
def login(provider: str | None, in_keyring: bool | None, only_list: bool, as_json: bool) -> int:
    """Give PROVIDER its key. It is asked for, or read from standard input.

    It is kept in the keyring of your system where there is one, else in a file that only you can read. Servers that run
    notice it by themselves.

    \b
    turnkeeper login anthropic
    pass show openai | turnkeeper login openai
    turnkeeper login --list
    """
    from turnkeeper.settings import credentials

    known = providers()
    if only_list or (provider is None and not is_terminal(sys.stdin)):
        return listed(known, as_json=as_json) if only_list else _which()
    name = named(provider or click.prompt("Provider", err=True), known)
    if in_keyring is None:
        in_keyring = credentials.has_keyring()
    elif in_keyring and not credentials.has_keyring():
        raise click.UsageError("there is no keyring here: 'pip install keyring' where Turnkeeper is, or say --file")
    where = credentials.keep(name, asked(name), env=os.environ, in_keyring=in_keyring)
    if as_json:
        emit({"provider": name, "kept_in": where})
        return Exit.FINISHED
    say(f"The key of {name} is kept in {where}.")
    say("'turnkeeper models' lists whom you can ask now, 'turnkeeper models choose' chooses.")
    return Exit.FINISHED


def _which() -> int:
    raise click.UsageError("say which provider; 'turnkeeper login --list' lists those that are known")


def listed(known: dict[str, str], *, as_json: bool) -> int:
    from turnkeeper.settings import credentials

    kept = credentials.kept(os.environ)
    rows = [(name, variable, state(name, variable, kept)) for name, variable in known.items()]
    if as_json:
        emit([{"provider": name, "variable": variable, "key": has} for name, variable, has in rows])
    else:
        table(("PROVIDER", "VARIABLE", "KEY"), rows)
    return Exit.FINISHED


def state(name: str, variable: str, kept: list[str]) -> str:
    if name in kept:
        return "kept here"
    return "from the variable" if variable and os.environ.get(variable) else ""


def providers() -> dict[str, str]:
    """Those that can have a key, with the variable in which it is found as well: known ones, and one's own."""
    from turnkeeper.settings.known import KEY_VARIABLES
    from turnkeeper.settings.load import load

    own = load(Path.cwd(), env=os.environ).settings.config.providers
    return dict(KEY_VARIABLES) | {name: "" for name in own if name not in KEY_VARIABLES}


def named(said: str, known: dict[str, str]) -> str:
    name = said.strip().lower()
    found = next((one for one in known if one.lower() == name), None)
    if found is None:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else "; one of your own needs a base_url first: 'turnkeeper config'"
        raise click.UsageError(f"no provider is called {said}{hint}")
    return found


def asked(name: str) -> str:
    """The key: typed without being shown, or piped in."""
    if is_terminal(sys.stdin):
        key = click.prompt(f"Key of {name}", hide_input=True, err=True)
    else:
        key = sys.stdin.read(KEY_BYTES_MAX)
    key = key.strip()
    if not key or any(letter.isspace() or not letter.isprintable() for letter in key):
        raise click.UsageError("that is no key: it is empty, or holds spaces")
    return key


@click.command("logout")
@click.argument("provider", required=False)
@click.option("--all", "everything", is_flag=True, help="Forget all keys that are kept.")
@JSON
def logout(provider: str | None, everything: bool, as_json: bool) -> int:
    """Forget the key of PROVIDER; it may be left out where only one is kept."""
    from turnkeeper.settings import credentials
    from turnkeeper.settings.known import KEY_VARIABLES

    kept = credentials.kept(os.environ)
    if everything:
        meant = kept
    elif provider:
        meant = [one for one in kept if one.lower() == provider.strip().lower()]
    elif len(kept) > 1:
        raise click.UsageError(f"say which, or --all: {', '.join(kept)}")
    else:
        meant = kept
    for name in meant:
        credentials.forget(name, env=os.environ)
    if as_json:
        emit({"forgotten": meant})
    else:
        say(f"Forgot the key of {', '.join(meant)}." if meant else "No such key is kept here.")
    for name in meant or ([provider] if provider else []):
        variable = KEY_VARIABLES.get(name.lower(), "")
        if os.environ.get(variable):
            say(f"{variable} is set, and goes on to be used for {name}.")
    return Exit.FINISHED if meant or not provider else Exit.FAILED
