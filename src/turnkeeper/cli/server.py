"""`turnkeeper server`: serve in the foreground; or start, stop and look at the server that serves this user."""

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnkeeper.cli import serve
from turnkeeper.cli.exits import Exit
from turnkeeper.cli.output import emit, plain, say, table
from turnkeeper.cli.reach import run

if TYPE_CHECKING:
    from turnkeeper.client.local import LocalServer

STOP_SECONDS = 20.0
POLL_SECONDS = 0.05
LINES_DEFAULT = 100
TAIL_BYTES_MAX = 4 * 1024 * 1024

HOST = click.option("--host", "-H", default="", metavar="URL", help="The server at this unix:///path.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.pass_context
def here(ctx: click.Context, **said: Any) -> Any:
    if ctx.invoked_subcommand is None:
        assert serve.server.callback is not None
        return serve.server.callback(**said)
    return None


server = click.Group(
    "server",
    callback=here,
    params=serve.server.params,
    help=f"{serve.server.help}\n\nWithout a command it serves here, until it is interrupted or nobody needs it.",
    invoke_without_command=True,
)


@server.command()
@HOST
@JSON
def start(host: str, as_json: bool) -> None:
    """Start your server in the background, if it does not run."""
    local = local_server(host)
    run(local.ensure)
    if as_json:
        emit({"host": str(local.host), "pid": local.pid()})
    else:
        say(f"The server at {local.host} runs (pid {local.pid()}).")


@server.command()
@HOST
@click.option("--force", "-f", is_flag=True, help="Also if somebody uses it; what runs ends as interrupted.")
@JSON
def stop(host: str, force: bool, as_json: bool) -> int:
    """Stop your server. One that somebody uses refuses, unless it is forced."""
    local = local_server(host)
    code, said = run(lambda: stopped(local, force=force))
    if as_json:
        emit({"host": str(local.host), "stopped": code == Exit.FINISHED, "message": said})
    else:
        say(said)
    return code


async def stopped(local: "LocalServer", *, force: bool) -> tuple[int, str]:
    from turnkeeper.client.local import agrees_to_leave

    pid = local.pid()
    if pid is None:
        return Exit.FINISHED, f"No server runs at {local.host}."
    async with local.http() as http:
        agreed = await agrees_to_leave(http)
    if not agreed and not force:
        said = "The server is in use; 'turnkeeper server status' tells by whom, and --force stops it all the same."
        return Exit.FAILED, said
    if not agreed:
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while is_running(pid):
        if time.monotonic() > deadline:
            return Exit.FAILED, f"The server (pid {pid}) has not stopped within {STOP_SECONDS:g} s."
        time.sleep(POLL_SECONDS)  # noqa: ASYNC251 - there is nothing else to do here
    return Exit.FINISHED, "The server has stopped."


@server.command()
@HOST
@JSON
def status(host: str, as_json: bool) -> int:
    """Tell whether your server runs, and what is open there."""
    return run(lambda: told(local_server(host), as_json=as_json))


async def told(local: "LocalServer", *, as_json: bool) -> int:
    from turnkeeper import __version__
    from turnkeeper.client.client import Client
    from turnkeeper.settings.build import build_id

    version = await local.version()
    said: dict[str, Any] = {"host": str(local.host), "running": version is not None, "log": str(local.log_file)}
    if version is not None:
        client = Client(local.host)
        async with client:
            opened = await client.workspaces()
        same = (version.version, version.build_id) == (__version__, build_id())
        said |= {
            "pid": local.pid(),
            "version": version.version,
            "build": version.build_id,
            "is_this_build": same,
            "workspaces": [{"id": workspace.id, "path": workspace.path} for workspace in opened],
        }
    if as_json:
        emit(said)
    elif version is None:
        print(f"No server runs at {local.host}. 'turnkeeper server start' starts it, and so does every command.")
    else:
        other = "" if said["is_this_build"] else " (another build than this command; it leaves when nobody uses it)"
        print(f"Turnkeeper {version.version}{other} serves at {local.host} (pid {said['pid']}).")
        print(f"Its log is {local.log_file}.")
        if said["workspaces"]:
            print()
            table(("WORKSPACE", "ID"), [(one["path"], one["id"]) for one in said["workspaces"]])
    return Exit.FINISHED if version is not None else Exit.FAILED


@server.command()
@HOST
@click.option("--lines", "-n", default=LINES_DEFAULT, show_default=True, help="How many of the last lines.")
@click.option("--follow", "-f", is_flag=True, help="Go on as the server writes.")
def logs(host: str, lines: int, follow: bool) -> int:
    """Show what your server wrote to its log."""
    local = local_server(host)
    if not local.log_file.exists():
        say(f"There is no log at {local.log_file}.")
        return Exit.FAILED
    with local.log_file.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL_BYTES_MAX))
        shown = log.read().decode("utf-8", "replace").splitlines()[-lines:]
        print(*map(plain, shown), sep="\n", flush=True)
        while follow:
            if more := log.read().decode("utf-8", "replace"):
                print(plain(more), end="", flush=True)
            elif was_replaced(log.fileno(), local.log_file):
                return logs.callback(host, 0, follow)  # type: ignore[misc] - click's own wrapping
            else:
                time.sleep(POLL_SECONDS * 5)
    return Exit.FINISHED


def was_replaced(file: int, path: Path) -> bool:
    """Whether the log was rotated away under us."""
    try:
        return os.fstat(file).st_ino != path.stat().st_ino
    except OSError:
        return False


def local_server(host: str) -> "LocalServer":
    from turnkeeper.client.local import local_server as find

    above = click.get_current_context().parent
    named: tuple[str, ...] = above.params.get("hosts", ()) if above else ()
    found = find(host or next(iter(named), ""), env=os.environ)
    if found is None:
        raise click.UsageError("only a server on this computer can be started and stopped from here: unix:///path")
    return found


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not is_zombie(pid)


def is_zombie(pid: int) -> bool:
    """Dead, and only its parent has not looked yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False
