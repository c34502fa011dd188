"""`turnkeeper server`: serve in the foreground until a signal comes, or until nobody needs it any more."""

import logging
import os
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

import click

LOG_BYTES_MAX = 10 * 1024 * 1024
LOG_FILES_MAX = 3


@click.command("server")
@click.option(
    "--host", "-H", "hosts", multiple=True, metavar="URL", help="unix:///path or tcp://host:port; repeatable."
)
@click.option("--token-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Ask for this token.")
@click.option("--log-file", type=click.Path(dir_okay=False, path_type=Path), help="Write the log there.")
@click.option("--debug", "-d", is_flag=True, help="Log more.")
def server(hosts: tuple[str, ...], token_file: Path | None, log_file: Path | None, debug: bool) -> None:
    """Serve in the foreground.

    \b
    turnkeeper server                                  on this user's own socket
    turnkeeper server --host tcp://127.0.0.1:4096      for programs on this computer
    """
    import anyio

    from turnkeeper.house.serving import default_host, default_log_file, parse_host, run_server
    from turnkeeper.protocol.problems import Problem

    log_file = log_file or default_log_file(os.environ)
    log_to(log_file, debug=debug)
    try:
        parsed = [parse_host(host) for host in hosts or (default_host(os.environ),)]
        token = token_file.read_text().strip() if token_file else ""
        anyio.run(
            lambda: run_server(parsed, token=token, log_file=log_file), backend_options={"use_uvloop": use_uvloop()}
        )
    except Problem as problem:
        print(f"turnkeeper: {problem.message}", file=sys.stderr)
        raise SystemExit(2 if problem.status == 400 else 1) from problem


def use_uvloop() -> bool:
    try:
        import uvloop  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        return False
    return True


class Line(logging.Formatter):
    """An event name and its fields, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        said = f"{self.formatTime(record)} {record.levelname.lower():7} {record.getMessage()}"
        fields = " ".join(f"{key}={value}" for key, value in vars(record).items() if key not in STANDARD)
        text = f"{said} {fields}" if fields else said
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


def log_to(path: Path, *, debug: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES_MAX, backupCount=LOG_FILES_MAX, encoding="utf-8")
    handler.setFormatter(Line())
    logging.basicConfig(level=logging.DEBUG if debug else logging.INFO, handlers=[handler])
    logging.getLogger("httpx2").setLevel(logging.WARNING)


if __name__ == "__main__":
    server()
