"""How commands reach a server: the options that say which, and the client and workspace they lead to."""

import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

if TYPE_CHECKING:
    from turnkeeper.client.client import Client
    from turnkeeper.client.workspace import WorkspaceClient

T = TypeVar("T")
Command = Callable[..., Any]


class Reach(msgspec.Struct, frozen=True):
    """Which server, and which directory there."""

    host: str = ""
    token_file: Path | None = None
    cwd: Path | None = None
    data_dir: Path | None = None

    @property
    def path(self) -> Path:
        return Path(self.cwd or ".").absolute()

    @property
    def named(self) -> str:
        """The server that was asked for; empty for this user's own."""
        return self.host or os.environ.get("TURNKEEPER_HOST", "")

    def token(self) -> str:
        """From the file that was named, else from the environment."""
        if self.token_file is None:
            return os.environ.get("TURNKEEPER_TOKEN", "")
        try:
            return self.token_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"the token file {self.token_file} cannot be read") from error

    @asynccontextmanager
    async def client(self, *, start: bool = True, kind: str = "cli") -> AsyncGenerator["Client"]:
        """The server, this user's own if none was named; that one is started if it does not run."""
        from turnkeeper.client.client import Client
        from turnkeeper.protocol.clients import ClientKind

        async with Client.connect(self.named, token=self.token(), start=start, kind=ClientKind(kind)) as client:
            yield client

    @asynccontextmanager
    async def workspace(self, **asked: Any) -> AsyncGenerator["WorkspaceClient"]:
        """The directory as a workspace of the server, for as long as the block lasts."""
        async with self.client() as client:
            data_dir = str(self.data_dir.absolute()) if self.data_dir else ""
            yield await client.open(self.path, data_dir=data_dir, **asked)


def reaching(command: Command) -> Command:
    """Give a command the options that say which server and which directory; it gets them as `reach`."""

    def given(*, host: str, token_file: Path | None, cwd: Path | None, data_dir: Path | None, **said: Any) -> Any:
        return command(reach=Reach(host, token_file, cwd, data_dir), **said)

    given.__doc__, given.__name__ = command.__doc__, command.__name__
    given.__click_params__ = [*getattr(command, "__click_params__", [])]  # type: ignore[attr-defined] - as click does
    there = click.Path(exists=True, file_okay=False, path_type=Path)
    folder = click.Path(file_okay=False, path_type=Path)
    file = click.Path(dir_okay=False, path_type=Path)
    for option in (
        click.option("--data-dir", "-D", type=folder, metavar="DIR", help="Where to keep the workspace's data."),
        click.option("--cwd", "-c", type=there, metavar="DIR", help="Work in this directory instead."),
        click.option("--token-file", type=file, help="The server's token; else TURNKEEPER_TOKEN."),
        click.option("--host", "-H", default="", metavar="URL", help="The server: unix:///path or tcp://host:port."),
    ):
        option(given)
    return given


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a command's asynchronous part to its end."""
    import anyio

    return anyio.run(work)
