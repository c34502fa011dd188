"""`turnkeeper server`: serve in the foreground until a signal comes, or until nobody needs it any more."""

import os
import sys
from pathlib import Path

import click

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("server")
@click.option(
    "--host", "-H", "hosts", multiple=True, metavar="URL", help="unix:///path or tcp://host:port; repeatable."
)
@click.option("--token-file", type=FILE, help="On TCP, ask for the token in this file; made if there is none.")
@click.option("--new-token", is_flag=True, help="Replace the token in the file; the old one opens nothing any more.")
@click.option("--tls-cert", type=FILE, help="Encrypt TCP with this certificate…")
@click.option("--tls-key", type=FILE, help="…and its key.")
@click.option("--tls-client-ca", type=FILE, help="Ask clients for a certificate that this authority signed.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A name by which clients call this server; repeatable."
)
@click.option("--allow-origin", multiple=True, metavar="URL", help="Whose pages may use this server; repeatable.")
@click.option("--log-file", type=click.Path(dir_okay=False, path_type=Path), help="Write the log there.")
@click.option("--debug", "-d", is_flag=True, help="Log more.")
def server(
    hosts: tuple[str, ...],
    token_file: Path | None,
    new_token: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    allow_host: tuple[str, ...],
    allow_origin: tuple[str, ...],
    log_file: Path | None,
    debug: bool,
) -> None:
    """Serve in the foreground.

    \b
    turnkeeper server                                  on this user's own socket
    turnkeeper server --host tcp://127.0.0.1:4096      for programs on this computer
    turnkeeper server --host tcp://0.0.0.0:4096 --token-file ~/.turnkeeper-token --tls-cert … --tls-key …
    """
    import anyio

    from turnkeeper.house import serving
    from turnkeeper.protocol.problems import Problem

    try:
        parsed = [serving.parse_host(host) for host in hosts or (serving.default_host(os.environ),)]
        log_file = log_file or serving.default_log_file(os.environ, parsed[0])
        if token_file and new_token:
            serving.renew(token_file)
        if bool(tls_cert) != bool(tls_key) or (tls_client_ca and not tls_cert) or (new_token and not token_file):
            raise click.UsageError("--tls-cert and --tls-key go together, and --new-token with --token-file")
        access = serving.Access(
            token=serving.open_token(token_file) if token_file else None,
            encryption=serving.Encryption(tls_cert, tls_key, tls_client_ca) if tls_cert and tls_key else None,
            names=frozenset(allow_host),
            origins=frozenset(origin.rstrip("/") for origin in allow_origin),
        )
        anyio.run(
            lambda: serving.run_server(parsed, access=access, log_file=log_file, debug=debug),
            backend_options={"use_uvloop": use_uvloop()},
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


if __name__ == "__main__":
    server()
