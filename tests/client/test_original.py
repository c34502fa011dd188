"""Our client at a server of the original: what it asks is answered, and what it is refused is the problem it is."""

import json

import pytest

from tests.client.original import Asked, Original, original
from tests.client.scene import QUICK_FEED, told
from turnkeeper.client.asking import Garbled, Unsupported
from turnkeeper.client.client import Client
from turnkeeper.protocol.config import OAuthToken, Scope
from turnkeeper.protocol.problems import BadRequest, Conflict, NotFound, Problem, ServerClosing
from turnkeeper.protocol.requests import Decision


async def test_a_prompt_is_answered_and_its_words_and_ending_are_read() -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        assert await workspace.is_original()
        await workspace.agent.init(interactive=False)
        assert (await workspace.agent.info()).is_ready
        session = await workspace.sessions.create("Talk")
        async with workspace.follow() as heard:
            await workspace.runs.submit(session.id, "hi", run_id="r")
            ending = await told(heard, "run_complete", run_id="r")
        assert ending.payload.text == "The answer."  # type: ignore[union-attr]
        assert [one.text for one in await workspace.messages.list(session.id)] == ["The answer."]
        assert [one.title for one in await workspace.sessions.list()] == ["Talk"]
        assert not (await workspace.agent.session(session.id)).is_busy
        (submitted,) = server.calls(r"POST .*/agent")
        assert submitted.body == {"session_id": session.id, "run_id": "r", "prompt": "hi"}


@pytest.mark.parametrize("status", [200, 202])
async def test_a_prompt_is_taken_by_old_servers_and_by_new_ones(status: int) -> None:
    async with original(prompt=status) as (host, _), Client(host) as client:
        workspace = await client.open("/p")
        await workspace.agent.init(interactive=False)
        assert await workspace.runs.submit("s", "hi", run_id="r") == "r"


@pytest.mark.parametrize(
    ("status", "body", "problem", "said"),
    [
        (400, {"message": "prompt is empty"}, BadRequest, "prompt is empty"),
        (500, b"<html>", Problem, "the server answered with status 500"),
        (500, None, Problem, "the server answered with status 500"),
        (404, {"message": "no session"}, NotFound, "no session"),
        (404, {"message": "workspace not found"}, NotFound, "workspace not found"),
        (409, {"message": "busy"}, Conflict, "busy"),
        (503, {"message": "server is shutting down"}, ServerClosing, "server is shutting down"),
    ],
)
async def test_a_refusal_is_the_problem_it_is_with_the_servers_own_words(
    status: int, body: object, problem: type[Problem], said: str
) -> None:
    async with original(sent={"POST agent": (status, body)}) as (host, _), Client(host) as client:
        workspace = await client.open("/p")
        with pytest.raises(problem) as refused:
            await workspace.runs.submit("s", "hi")
    assert (refused.value.message, refused.value.status) == (said, status)


async def test_what_the_original_does_not_know_is_unsupported_and_no_missing_thing() -> None:
    async with original() as (host, _), Client(host) as client:
        workspace = await client.open("/p")
        for question in (workspace.runs.get("r"), workspace.snapshot(), workspace.overview.providers()):
            with pytest.raises(Unsupported):
                await question


async def test_prompts_of_mcp_servers_come_with_their_arguments() -> None:
    prompt = {"id": "srv:review", "prompt_id": "review", "client_id": "srv"}
    listed = [prompt | {"arguments": [{"id": "focus", "title": "Focus", "required": True}]}]
    async with original(sent={"GET mcp/prompts": (200, listed)}) as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        (known,) = await workspace.mcp.prompts()
        assert (known.prompt_id, [(one.id, one.required) for one in known.arguments]) == ("review", [("focus", True)])
        server.sent["GET mcp/prompts"] = (500, None)
        with pytest.raises(Problem, match="status 500"):
            await workspace.mcp.prompts()
        server.sent["GET mcp/prompts"] = (200, b"not json")
        with pytest.raises(Garbled, match="cannot be read"):
            await workspace.mcp.prompts()


@pytest.mark.parametrize("credential", ["sk-1", OAuthToken("a", "r", 60, 1234)])
async def test_a_credential_is_sent_with_its_kind_provider_and_scope(credential: str | OAuthToken) -> None:
    async with original(sent={"POST config/provider-key": (200, None)}) as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        await workspace.config.set_provider_key(Scope.GLOBAL, "openai", credential)
        (asked,) = server.calls(r"POST .*/provider-key")
    token = {"access_token": "a", "refresh_token": "r", "expires_in": 60, "expires_at": 1234}
    kind, key = ("string", credential) if isinstance(credential, str) else ("oauth", token)
    assert asked.body == {"scope": 0, "provider_id": "openai", "kind": kind, "api_key": key}


@pytest.mark.parametrize("credential", [7, None, b"sk"])
async def test_what_is_no_credential_is_refused_before_anything_is_sent(credential: object) -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        with pytest.raises(BadRequest, match="a credential is a key or a login"):
            await workspace.config.set_provider_key(Scope.GLOBAL, "openai", credential)  # type: ignore[arg-type]
        assert server.calls(r"POST .*/provider-key") == []


@pytest.mark.parametrize(
    ("decision", "action"),
    [
        (Decision(allowed=True), "allow"),
        (Decision(allowed=True, scope="session"), "allow_session"),
        (Decision(allowed=False), "deny"),
    ],
)
@pytest.mark.parametrize("params", [{"command": "ls"}, "a text, as an MCP tool has", None])
async def test_a_permission_is_answered_with_the_request_echoed_and_nothing_the_original_would_refuse(
    decision: Decision, action: str, params: object
) -> None:
    async def ask(server: Original, said: dict[str, str]) -> None:
        await server.ask_permission(said["session_id"], params)
        await server.finish(said["session_id"], said["run_id"])

    async with original(answer=ask, is_ready=True) as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        session = await workspace.sessions.create()
        async with workspace.follow() as heard:
            await workspace.runs.submit(session.id, "hi", run_id="r")
            request = await told(heard, "permission_request")
            settled = await workspace.permissions.answer(request.payload, decision)  # type: ignore[arg-type]
            assert settled.resolved
            await told(heard, "run_complete", run_id="r")
            again = await workspace.permissions.answer(request.payload, decision)  # type: ignore[arg-type]
            assert not again.resolved
        grant = server.calls(r"POST .*/permissions/grant")[0].body
    assert grant["action"] == action
    assert {name: grant["permission"][name] for name in ("id", "session_id", "tool_call_id", "tool_name", "path")} == {
        "id": "p1",
        "session_id": session.id,
        "tool_call_id": "c1",
        "tool_name": "bash",
        "path": "/p",
    }


async def test_a_stream_of_whole_messages_is_read_and_what_is_strange_in_it_is_passed_over() -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        async with workspace.follow(limits=QUICK_FEED) as heard:
            await anext(heard)
            await server.write(b": a comment\n\nevent: x\ndata: not json\n\ndata: {}\n\n")
            await server.tell("something_new", {"a": 1})
            await server.tell("session", {"id": "s", "title": "T"})
            assert (await told(heard, "session")).payload.title == "T"  # type: ignore[union-attr]


async def test_renaming_sends_the_whole_session_in_the_spelling_that_is_read() -> None:
    row = {
        "id": "s",
        "title": "Old",
        "prompt_tokens": 7,
        "completion_tokens": 8,
        "summary_message_id": "m",
        "cost": 0.5,
    }
    sent = {"GET sessions/s": (200, row), "PUT sessions/s": (200, row | {"title": "New"})}
    async with original(sent=sent) as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        assert (await workspace.sessions.rename("s", "New")).title == "New"
        (asked,) = server.calls(r"PUT .*")
    # It reads keys in any case, and knows no underscores.
    read = {name.lower(): value for name, value in asked.body.items()}
    assert [read[name] for name in ("title", "prompttokens", "completiontokens", "summarymessageid", "cost")] == [
        "New",
        7,
        8,
        "m",
        0.5,
    ]


async def test_a_server_that_is_leaving_is_asked_again_until_its_successor_answers() -> None:
    revived: list[int] = []

    async def revive() -> None:
        revived.append(1)

    async with original(create=[503, 503]) as (host, server), Client(host, revive=revive) as client:
        await client.open("/p")
        assert (len(revived), len(server.calls("POST /v1/workspaces"))) == (2, 3)
        server.create = [500]
        with pytest.raises(Problem, match="no"):
            await client.open("/q")
        assert len(revived) == 2


async def test_goodbye_is_said_once_and_in_the_plainer_word_where_the_other_is_not_known() -> None:
    async with original() as (host, server):
        async with Client(host) as client:
            await client.open("/p")
        assert [one.path for one in server.calls("DELETE .*")] == [f"/v1/clients/{client.id}"]
    async with original(retires=False) as (host, server):
        async with Client(host) as client:
            workspace = await client.open("/p")
        (_, left) = server.calls("DELETE .*")
        assert (left.path, left.query) == (f"/v1/workspaces/{workspace.id}", f"client_id={client.id}")
        assert server.workspaces == {}


async def test_history_in_capitals_is_read_whole() -> None:
    row = {"ID": "f", "SessionID": "s", "Path": "/a", "Content": "x", "Version": 1, "CreatedAt": 5, "UpdatedAt": 6}
    async with original(sent={"GET sessions/s/history": (200, [row])}) as (host, _), Client(host) as client:
        workspace = await client.open("/p")
        (file,) = await workspace.files.history("s")
    assert (file.session_id, file.path, file.version, file.created_at) == ("s", "/a", 1, 5)


async def test_lists_that_are_null_are_empty() -> None:
    sent = {"GET agent/sessions/s/prompts/list": (200, b"null\n"), "GET providers": (200, b"null\n")}
    async with original(sent=sent) as (host, _), Client(host) as client:
        workspace = await client.open("/p")
        assert await workspace.runs.waiting("s") == []
        assert await workspace.config.providers() == []


async def test_what_is_asked_of_a_workspace_that_is_gone_is_asked_again_in_the_one_opened_anew() -> None:
    async with original() as (host, server), Client(host) as client:
        workspace = await client.open("/p")
        before = workspace.id
        server.workspaces.clear()
        assert await workspace.sessions.list() == []
        assert workspace.id != before
        creations: list[Asked] = server.calls("POST /v1/workspaces")
        assert [json.dumps(one.body, sort_keys=True) for one in creations] == [
            json.dumps(creations[0].body, sort_keys=True)
        ] * 2
