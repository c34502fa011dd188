"""`turnkeeper version` and `turnkeeper completion`: what this is, and how a shell may finish its words."""

import os
import platform
import sys
from typing import Any

import click

from turnkeeper import __version__
from turnkeeper.cli.output import emit
from turnkeeper.cli.reach import run

SHELLS = ("bash", "zsh", "fish")
NAMES = ("turnkeeper", "tk")
COMPLETE_VARIABLE = "_TURNKEEPER_COMPLETE"


@click.command("version")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def version(as_json: bool) -> None:
    """Tell which version this is, and which one your server is."""
    from turnkeeper.settings.build import build_id

    here: dict[str, Any] = {
        "version": __version__,
        "build": build_id(),
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    server = run(_server)
    if as_json:
        emit(here | {"server": server})
        return
    click.echo(f"turnkeeper {__version__} (build {here['build']}, Python {here['python']}, {here['platform']})")
    if server:
        same = server["build"] == here["build"]
        click.echo(f"server     {server['version']} (build {server['build']}{'' if same else ', another than this'})")


async def _server() -> dict[str, str] | None:
    """Which server answers; none is started for it."""
    from turnkeeper.client.local import local_server

    local = local_server("", env=os.environ)
    told = await local.version() if local else None
    return {"version": told.version, "build": told.build_id} if told else None


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def completion(shell: str | None) -> None:
    """Print what makes a shell complete this program's commands and options.

    \b
    eval "$(turnkeeper completion bash)"                      in ~/.bashrc
    eval "$(turnkeeper completion zsh)"                       in ~/.zshrc
    turnkeeper completion fish | source                       in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from turnkeeper.cli.frame import FRAME

    chosen = shell or os.path.basename(os.environ.get("SHELL", ""))  # noqa: PTH119 - it is a name, not a place
    kind = get_completion_class(chosen)
    if kind is None or chosen not in SHELLS:
        raise click.UsageError(f"say which shell: {', '.join(SHELLS)}")
    for name in NAMES:
        script = kind(FRAME, {}, name, COMPLETE_VARIABLE)
        # Its own check runs the shell to ask for its version; that is the reader's business, not ours.
        sys.stdout.write(script.source_template % script.source_vars() + "\n")
