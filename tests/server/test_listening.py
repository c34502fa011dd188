"""Sockets that are ours alone: who may listen where, and who may connect."""

import os
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from anyio import fail_after, to_thread

from tests.server.sockets import server
from turnkeeper.house.serving import Access, NotSafe
from turnkeeper.protocol.hosts import BadHost, Host, parse_host
from turnkeeper.server.listen import AddressInUse, bind, is_stale
from turnkeeper.server.peers import bsd_user, is_stranger, peer_user
from turnkeeper.server.serving import CertificateUnusable, Encryption
from turnkeeper.server.tokens import open_token

NOBODY = 65534
OTHERS = "tcp://0.0.0.0:4096"


@pytest.mark.parametrize("host", [OTHERS, "tcp://192.168.1.5:4096", "tcp://my-desk:80", "tcp://[::]:4096"])
def test_where_others_can_connect_nobody_listens_without_knowing_who_comes(host: str, tmp_path: Path) -> None:
    hosts = [parse_host("unix:///run/x.sock"), parse_host(host)]
    encrypted = Encryption(tmp_path / "cert.pem", tmp_path / "key.pem")
    for access in (Access(), Access(encryption=encrypted)):
        with pytest.raises(NotSafe, match="without a token"):
            access.check(hosts)
    Access(token=open_token(tmp_path / "token")).check(hosts)


@pytest.mark.parametrize("host", ["unix:///run/x.sock", "tcp://127.0.0.1:1", "tcp://127.8.8.8:1", "tcp://[::1]:1"])
def test_where_only_this_computer_can_connect_no_token_is_needed(host: str) -> None:
    Access().check([parse_host(host)])


@pytest.mark.parametrize("text", ["/run/x", "unix://", "npipe:////./pipe/x", "tcp://host", "tcp://:1", "tcp://h:99999"])
def test_what_is_no_address_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(BadHost):
        parse_host(text)


def test_a_socket_is_its_owners_alone_whatever_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with bind(Host("unix", str(tmp_path / "run" / "door.sock"))):
            assert (tmp_path / "run" / "door.sock").stat().st_mode & 0o777 == 0o600
            assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_a_socket_that_a_dead_server_left_is_replaced_and_a_live_one_never_is(tmp_path: Path) -> None:
    host = Host("unix", str(tmp_path / "door.sock"))
    bind(host).close()
    assert is_stale(tmp_path / "door.sock")
    with bind(host), pytest.raises(AddressInUse):
        bind(host)


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "door.sock").write_text("somebody's notes")
    with pytest.raises(AddressInUse):
        bind(Host("unix", str(tmp_path / "door.sock")))
    assert (tmp_path / "door.sock").read_text() == "somebody's notes"


def test_the_system_tells_who_is_at_the_other_end_of_a_unix_socket(tmp_path: Path) -> None:
    with bind(Host("unix", str(tmp_path / "door.sock"))) as door, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "door.sock"))
        accepted, _ = door.accept()
        with accepted:
            assert peer_user(accepted) == os.geteuid()
            assert not is_stranger(accepted)
            # Seen from a server of another user, whoever is not root is a stranger.
            assert is_stranger(accepted, owner=os.geteuid() + 1) == (os.geteuid() != 0)


def test_the_head_of_a_bsd_answer_is_a_version_and_the_user() -> None:
    assert bsd_user((0).to_bytes(4, sys.byteorder) + (501).to_bytes(4, sys.byteorder) + bytes(68)) == 501


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_another_user_is_cut_off_before_a_word_is_read_though_the_file_would_let_them() -> None:
    with fail_after(20):
        async with server() as door:
            door.path.parent.chmod(0o755)
            door.path.chmod(0o666)
            assert await to_thread.run_sync(answer_to, door.path, NOBODY) == b""
            assert (await to_thread.run_sync(answer_to, door.path, 0)).startswith(b"HTTP/1.1 200")


def answer_to(path: Path, user: int) -> bytes:
    """What a process of this user hears when it asks."""
    program = (
        "import os, socket, sys\n"
        "os.setuid(int(sys.argv[2]))\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        "s.settimeout(10)\n"
        "s.connect(sys.argv[1])\n"
        "try:\n"
        "    s.sendall(b'GET /v1/health HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n')\n"
        "    sys.stdout.buffer.write(s.recv(1000))\n"
        "except ConnectionError:\n"
        "    pass\n"
    )
    python = [sys.executable, "-S", "-c", program, str(path), str(user)]
    return subprocess.run(python, capture_output=True, check=True, timeout=20).stdout


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, a server's certificate and a client's, made for the occasion."""
    where = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=where, capture_output=True, check=True, timeout=30)

    new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    ca = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
    try:
        openssl(*new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test authority", *ca)
        for name in ("server", "client"):
            signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"]
            names = ["-addext", "subjectAltName=DNS:localhost"]
            openssl(*new, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", *signed, *names)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no openssl that can do this: {error}")
    return where


async def test_tcp_can_be_encrypted_and_ask_clients_for_a_certificate_of_their_own(certificates: Path) -> None:
    encryption = Encryption(certificates / "server.pem", certificates / "server.key", certificates / "ca.pem")
    Access(encryption=encryption).check([parse_host(OTHERS)])
    known = ssl.create_default_context(cafile=certificates / "ca.pem")
    known.load_cert_chain(certificates / "client.pem", certificates / "client.key")
    stranger = ssl.create_default_context(cafile=certificates / "ca.pem")
    with fail_after(20):
        async with server(encryption=encryption) as door:
            async with door.tls(known) as line:
                assert (await line.ask("GET", "/v1/health", host="localhost", origin="https://localhost")).status == 200
            async with door.tcp() as plain:
                await plain.say(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
                assert b"200 OK" not in await plain.closed()
            async with door.unix() as line:
                assert (await line.ask("GET", "/v1/health")).status == 200
            assert await is_cut_off(door.port, stranger)


async def is_cut_off(port: int, context: ssl.SSLContext) -> bool:
    def ask() -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
            try:
                with context.wrap_socket(plain, server_hostname="localhost") as line:
                    line.sendall(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    return line.recv(1000) == b""
            except (ssl.SSLError, ConnectionError):
                return True

    return await to_thread.run_sync(ask)


def test_a_certificate_that_cannot_be_used_is_told_before_anything_listens(tmp_path: Path) -> None:
    with pytest.raises(CertificateUnusable):
        Access(encryption=Encryption(tmp_path / "none.pem", tmp_path / "none.key")).check([parse_host("tcp://[::1]:1")])
