"""Who is let in, over real sockets: names, pages, tokens."""

from pathlib import Path

import pytest
from anyio import fail_after

from tests.server.sockets import server
from turnkeeper.server.guard import LOCAL_HOSTS, Guard
from turnkeeper.server.tokens import TokenUnsafe, open_token, renew

HEALTH = "/v1/health"
PAGE = "https://pages.example"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:4096", 200),
        ("127.0.0.1", 200),
        ("[::1]:4096", 200),
        ("10.1.2.3:4096", 200),
        ("LocalHost.:4096", 200),
        ("my-desk.lan:4096", 200),
        ("evil.example:4096", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
    ],
)
async def test_a_name_that_is_not_ours_is_refused_so_that_no_page_reaches_us_by_its_own(host: str, status: int) -> None:
    with fail_after(10):
        async with server(guard=Guard(hosts=LOCAL_HOSTS | {"my-desk.lan"})) as door, door.tcp() as line:
            assert (await line.ask("GET", HEALTH, host=host)).status == status


async def test_a_request_with_two_names_is_refused() -> None:
    with fail_after(10):
        async with server() as door, door.tcp() as line:
            await line.say(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n")
            assert (await line.answer()).status == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": PAGE}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:3000"}, 403),
        ({"origin": "http://localhost:4096"}, 200),
        ({"origin": "https://allowed.example"}, 200),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
    ],
)
async def test_only_our_own_pages_and_those_the_owner_allowed_may_speak_to_us(
    headers: dict[str, str], status: int
) -> None:
    with fail_after(10):
        async with server(guard=Guard(origins={"https://allowed.example"})) as door, door.tcp() as line:
            assert (await line.ask("GET", HEALTH, host="localhost:4096", **headers)).status == status


async def test_a_foreign_page_is_refused_on_the_unix_socket_as_well() -> None:
    with fail_after(10):
        async with server() as door, door.unix() as line:
            assert (await line.ask("GET", HEALTH, origin=PAGE)).status == 403


async def test_an_allowed_page_may_ask_first_without_the_token_and_then_read_what_it_is_answered() -> None:
    guard = Guard(token="a-token-of-some-length", origins={PAGE})
    with fail_after(10):
        async with server(guard=guard) as door, door.tcp() as line:
            asked = {"origin": PAGE, "access-control-request-method": "POST"}
            first = await line.ask("OPTIONS", "/v1/workspaces", **asked)
            assert (first.status, first.headers["access-control-allow-origin"]) == (204, PAGE)
            assert "authorization" in first.headers["access-control-allow-headers"]
            bare = await line.ask("GET", HEALTH, origin=PAGE)
            assert (bare.status, bare.headers["access-control-allow-origin"]) == (401, PAGE)
            known = await line.ask("GET", HEALTH, origin=PAGE, authorization="Bearer a-token-of-some-length")
            assert (known.status, known.headers["access-control-allow-origin"]) == (200, PAGE)
            other = await line.ask("OPTIONS", "/v1/workspaces", **{**asked, "origin": "https://other.example"})
            assert (other.status, "access-control-allow-origin" in other.headers) == (403, False)


async def test_with_a_token_tcp_asks_for_it_and_the_unix_socket_does_not() -> None:
    with fail_after(10):
        async with server(guard=Guard(token="a-token-of-some-length")) as door:
            async with door.tcp() as line:
                refused = await line.ask("GET", HEALTH)
                assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
                for wrong in ("Bearer ", "Bearer a-token-of-some-lengt", "Basic a-token-of-some-length", "Bearer x"):
                    assert (await line.ask("GET", HEALTH, authorization=wrong)).status == 401
                assert (await line.ask("GET", HEALTH, authorization="bearer a-token-of-some-length")).status == 200
            async with door.unix() as line:
                assert (await line.ask("GET", HEALTH)).status == 200


async def test_a_token_is_made_for_its_owner_alone_and_rotated_while_the_server_works(tmp_path: Path) -> None:
    path = tmp_path / "made" / "token"
    tokens = open_token(path)
    old = path.read_text().strip()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert len(old) >= 43
    with fail_after(10):
        async with server(guard=Guard(token=tokens)) as door, door.tcp() as line:

            async def status(token: str) -> int:
                return (await line.ask("GET", HEALTH, authorization=f"Bearer {token}")).status

            assert await status(old) == 200
            renew(path)
            new = path.read_text().strip()
            assert new != old
            assert [await status(old), await status(new)] == [401, 200]
            path.chmod(0o644)
            assert await status(new) == 401
            path.chmod(0o600)
            assert await status(new) == 200
            path.unlink()
            assert [await status(new), await status("")] == [401, 401]


async def test_a_stream_that_was_opened_with_a_token_ends_after_the_token_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "token"
    tokens = open_token(path)
    known = {"authorization": f"Bearer {tokens.current()}"}
    with fail_after(10):
        async with server(guard=Guard(token=tokens), heartbeat_seconds=0.05) as door, door.tcp() as line:
            asked = {"path": "/here", "client_id": (me := "8f14e45f-ceea-467f-9575-2f1d0a6f5a10")}
            opened = (await line.ask("POST", "/v1/workspaces", asked, **known)).json()
            events = f"/v1/workspaces/{opened['id']}/events?client_id={me}"
            async with door.tcp() as stream:
                await stream.say(f"GET {events} HTTP/1.1\r\nhost: localhost\r\n".encode())
                await stream.say(f"authorization: {known['authorization']}\r\n\r\n".encode())
                assert (await stream.head()).status == 200
                assert await stream.chunk() == b"\n"
                renew(path)
                while (chunk := await stream.chunk()) == b"\n":
                    pass
                assert chunk == b""


@pytest.mark.parametrize("content", ["short\n", "two words are not one token\n", "\x00" * 40, ""])
def test_what_is_no_token_is_refused_rather_than_used(tmp_path: Path, content: str) -> None:
    path = tmp_path / "token"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(TokenUnsafe):
        open_token(path)


def test_a_token_that_others_can_read_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("a-token-that-is-long-enough\n")
    path.chmod(0o640)
    with pytest.raises(TokenUnsafe, match=f"chmod 600 {path}"):
        open_token(path)


def test_a_token_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TokenUnsafe):
        renew(tmp_path / "file" / "token")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
