"""Who shares a workspace, as a client's view of it says: who is there, what they look at, and what they are called."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from tests.client.scene import WAIT_SECONDS, served
from turnkeeper.client.client import Client
from turnkeeper.client.events import Heard, Told
from turnkeeper.client.view import View, begun, seen
from turnkeeper.models.scripted import Say, turn
from turnkeeper.protocol.clients import ClientKind
from turnkeeper.protocol.hosts import Host
from turnkeeper.protocol.wire_clients import ClientView, NameView, Presence
from turnkeeper.protocol.wire_details import RequestClosed
from turnkeeper.protocol.wire_own import Snapshot
from turnkeeper.protocol.wire_requests import PermissionNotification, PermissionRequest
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.protocol.wire_stream import Envelope

ALICE = ClientView("a", "alice@laptop", "terminal", "s1", 1, 1)
BOB = ClientView("b", "bob@desk", "cli", "s1", 2, 1)
CAROL = NameView("c", "carol", "script")


def here(*clients: ClientView) -> Envelope:
    return Envelope("presence", "updated", Presence(clients))


async def followed(view: View, heard: AsyncGenerator[Heard], names: list[str]) -> View:
    """The view, once these are there."""
    with anyio.fail_after(WAIT_SECONDS):
        async for one in heard:
            if isinstance(one, Told):
                view = seen(view, one.envelope)
                if [client.name for client in view.clients.values()] == names:
                    return view
    raise AssertionError("the feed ended")


async def test_two_clients_of_a_server_see_each_other_come_look_and_go() -> None:
    async with served(turn(Say("hi"))) as server, server.workspace(name="alice", kind=ClientKind.TERMINAL) as alice:
        session = await alice.sessions.create("Shared")
        await alice.select(session.id)
        async with alice.follow() as heard:
            view = await followed(begun(await alice.snapshot()), heard, ["alice"])
            async with server.workspace(name="bob ☃", kind=ClientKind.CLI) as bob:
                await bob.select(session.id)
                async with bob.follow() as other:
                    await anext(other)
                    view = await followed(view, heard, ["alice", "bob ☃"])
                    while view.sessions[session.id].attached_clients != 2:
                        view = await followed(view, heard, ["alice", "bob ☃"])
                    assert [client.kind for client in view.watching(session.id)] == ["terminal", "cli"]
                    assert [one.name for one in (await alice.clients()).clients] == ["alice", "bob ☃"]
                    await bob.runs.submit(session.id, "hello", run_id="r")
                by = (await bob.runs.wait("r")).by
            view = await followed(view, heard, ["alice"])
            assert (view.name_of(by), view.sessions[session.id].attached_clients) == ("bob ☃", 1)
            assert begun(await alice.snapshot()).name_of(by) == "bob ☃"


def test_presence_is_folded_into_how_many_look_at_each_session() -> None:
    sessions = (Session("s1"), Session("s2"))
    view = begun(Snapshot(1, sessions, clients=(ALICE,), names=(CAROL,)))
    assert [one.attached_clients for one in view.sessions.values()] == [1, 0]
    after = seen(view, here(ALICE, BOB))
    assert [one.attached_clients for one in after.sessions.values()] == [2, 0]
    assert after.sessions["s2"] is view.sessions["s2"]
    assert seen(after, here(ALICE, BOB)) is after
    gone = seen(after, here())
    assert ([one.attached_clients for one in gone.sessions.values()], dict(gone.clients)) == ([0, 0], {})


def test_a_session_that_is_told_anew_keeps_who_looks_at_it() -> None:
    view = seen(begun(Snapshot(1, (Session("s1"),))), here(ALICE))
    view = seen(view, Envelope("session", "updated", Session("s1", title="Named")))
    view = seen(view, Envelope("session", "created", Session("s2")))
    assert [(one.title, one.attached_clients) for one in view.sessions.values()] == [("Named", 1), ("", 0)]


def test_who_is_there_is_called_as_it_says_now_and_who_is_gone_as_it_said_then() -> None:
    view = begun(Snapshot(1, clients=(ALICE,), names=(CAROL, NameView("a", "alice@desk", "cli"))))
    assert [view.name_of(id) for id in ("a", "c", "nobody")] == ["alice@laptop", "carol", ""]
    view = seen(view, Envelope("client_named", "updated", NameView("c", "carol@work", "script")))
    assert seen(view, here()).name_of("c") == "carol@work"
    assert seen(view, here()).name_of("a") == "alice@desk"
    assert seen(view, Envelope("client_named", "updated", NameView("c", "carol@work", "script"))) is view


def test_a_client_that_is_given_no_name_is_called_by_whose_it_is_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "dora")
    host = Host("unix", "/nowhere.sock")
    assert Client(host).name.startswith("dora@")
    assert Client(host, name="").name == ""


def test_an_answer_in_one_session_settles_nothing_in_another_whose_call_has_the_same_id() -> None:
    asked = [PermissionRequest(id=id, session_id=id, tool_call_id="call-1", digest="d") for id in ("s1", "s2")]
    view = begun(Snapshot(1, permissions=tuple(asked)))
    view = seen(view, Envelope("request_answered", "updated", RequestClosed("s1", "s1", by="a", decision="allowed")))
    view = seen(view, Envelope("permission_notification", "created", PermissionNotification("call-1", granted=True)))
    assert list(view.permissions) == ["s2"]
