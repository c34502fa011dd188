"""Every route of the original, asked once where it succeeds: its status and its exact bytes.

`S` stands for a session, `W` for the workspace, `C` for the client. A body that cannot be foretold is compared with
its own shape elsewhere and is `ANY` here.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from anyio import fail_after

from turnkeeper.server.routes import all_routes
from turnkeeper.testing.bridge import Answered
from turnkeeper.testing.front import Client, Front, front

CLIENT = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11"
ANY = object()
ONE = "/v1/workspaces/{id}"
SESSION = f"{ONE}/sessions/{{sid}}"
AGENT = f"{ONE}/agent"
WORK = f"{ONE}/agent/sessions/{{sid}}"

MODEL = (
    b'{"id":"scripted","name":"Scripted","cost_per_1m_in":0,"cost_per_1m_out":0,"cost_per_1m_in_cached":0,'
    b'"cost_per_1m_out_cached":0,"context_window":200000,"default_max_tokens":0,"can_reason":false,'
    b'"supports_attachments":false}'
)
SELECTED = b'{"model":"scripted","provider":"scripted"}'
CONFIG = (
    b'{"models":{"large":%b,"small":%b},"providers":{"scripted":{"id":"scripted","name":"Scripted",'
    b'"api_key":"sk-secret","models":[%b]}},"options":{"tui":{},"data_directory":"/p/.turnkeeper"}}'
) % (SELECTED, SELECTED, MODEL)
WORKSPACE = b'{"id":"W","path":"/p","data_dir":"/p/.turnkeeper","version":"test","config":%b}' % CONFIG
SHOWN = (
    b'{"id":"S","parent_session_id":"","title":"T","message_count":0,"prompt_tokens":0,"completion_tokens":0,'
    b'"summary_message_id":"","cost":0,"created_at":1700000000,"updated_at":1700000000,"is_busy":false,'
    b'"attached_clients":0}'
)
OF_AGENT = (
    b'{"id":"S","parent_session_id":"","title":"T","message_count":0,"prompt_tokens":0,"completion_tokens":0,'
    b'"summary_message_id":"","cost":0,"created_at":0,"updated_at":0,"is_busy":false,"attached_clients":0}'
)
PERMISSION = {"id": "P", "params": None}


@dataclass(frozen=True)
class Row:
    number: int
    method: str
    path: str
    query: str = ""
    body: Any = None
    status: int = 200
    says: bytes | object = b""
    knows_id: bool = True
    """Whether an unknown workspace is refused with 404."""


ROWS = [
    Row(1, "GET", "/v1/health"),
    Row(
        2,
        "GET",
        "/v1/version",
        says=b'{"version":"test","commit":"","build_id":"test","go_version":"PYTHON","platform":"test/test"}',
    ),
    Row(3, "GET", "/v1/config", says=b"{}"),
    Row(4, "POST", "/v1/control", body={"command": "shutdown_if_idle"}, status=409, says=ANY),
    Row(5, "DELETE", "/v1/clients/{client_id}"),
    Row(6, "GET", "/v1/workspaces", says=b"[%b]" % WORKSPACE),
    Row(7, "POST", "/v1/workspaces", body={"id": "", "path": "/p", "client_id": CLIENT}, says=WORKSPACE),
    Row(8, "GET", ONE, says=WORKSPACE),
    Row(9, "DELETE", ONE, query=f"client_id={CLIENT}", knows_id=False),
    Row(
        10,
        "POST",
        f"{ONE}/current-session",
        query=f"client_id={CLIENT}",
        body={"session_id": "S"},
        status=409,
        says=ANY,
    ),
    Row(11, "GET", f"{ONE}/config", says=CONFIG),
    Row(12, "GET", f"{ONE}/events", query=f"client_id={CLIENT}", says=ANY),
    Row(13, "GET", f"{ONE}/providers", says=b"null"),
    Row(14, "GET", f"{ONE}/sessions", says=b"[%b]" % SHOWN),
    Row(15, "POST", f"{ONE}/sessions", body={"title": "T"}, says=ANY),
    Row(16, "GET", SESSION, says=SHOWN),
    Row(17, "PUT", SESSION, body={"id": "S", "title": "T"}, says=SHOWN),
    Row(18, "DELETE", SESSION),
    Row(19, "GET", f"{SESSION}/history", says=b"[]"),
    Row(20, "GET", f"{SESSION}/messages", says=b"[]"),
    Row(21, "GET", f"{SESSION}/messages/user", says=b"[]"),
    Row(22, "GET", f"{ONE}/messages/user", says=b"[]"),
    Row(23, "GET", f"{SESSION}/filetracker/files", says=b"[]"),
    Row(24, "POST", f"{ONE}/filetracker/read", body={"session_id": "S", "path": "/p/a.go"}),
    Row(
        25, "GET", f"{ONE}/filetracker/lastread", query="session_id=S&path=%2Fp%2Fa.go", says=b'"0001-01-01T00:00:00Z"'
    ),
    Row(26, "GET", f"{ONE}/lsps", says=b"{}"),
    Row(27, "GET", f"{ONE}/lsps/gopls/diagnostics", status=404, says=b'{"message":"LSP client not found"}'),
    Row(28, "POST", f"{ONE}/lsps/start", body={"path": "/p/a.go"}),
    Row(29, "POST", f"{ONE}/lsps/stop"),
    Row(30, "GET", f"{ONE}/permissions/skip", says=b'{"skip":false}'),
    Row(31, "POST", f"{ONE}/permissions/skip", body={"skip": True}),
    Row(
        32,
        "POST",
        f"{ONE}/permissions/grant",
        body={"permission": PERMISSION, "action": "allow"},
        says=b'{"resolved":false}',
    ),
    Row(33, "POST", f"{ONE}/questions/answer", body={"responses": []}, says=b'{"resolved":false}'),
    Row(34, "POST", f"{ONE}/questions/cancel", says=b'{"resolved":false}'),
    Row(
        35,
        "GET",
        AGENT,
        says=b'{"is_busy":false,"is_ready":true,"model":%b,"model_cfg":%b}' % (MODEL, SELECTED),
    ),
    Row(36, "POST", AGENT, body={"session_id": "S", "run_id": "r", "prompt": "hi"}, status=202),
    Row(37, "POST", f"{AGENT}/init", body={"interactive": True}),
    Row(38, "POST", f"{AGENT}/update"),
    Row(39, "GET", f"{AGENT}/sessions/{{sid}}", says=OF_AGENT),
    Row(40, "POST", f"{WORK}/cancel"),
    Row(41, "GET", f"{WORK}/prompts/queued", says=b"0"),
    Row(42, "GET", f"{WORK}/prompts/list", says=b"null"),
    Row(43, "POST", f"{WORK}/prompts/clear"),
    Row(44, "POST", f"{WORK}/summarize"),
    Row(
        45,
        "POST",
        f"{WORK}/shell",
        body={"session_id": "", "command": "echo hello", "term_width": 118},
        says=b'{"output":"hello\\n","exit_code":0}',
    ),
    Row(46, "GET", f"{AGENT}/default-small-model", query="provider_id=scripted", says=SELECTED),
    Row(47, "POST", f"{ONE}/config/set", body={"scope": 0, "key": "options.debug", "value": True}),
    Row(48, "POST", f"{ONE}/config/remove", body={"scope": 0, "key": "providers.hyper.oauth"}),
    Row(
        49,
        "POST",
        f"{ONE}/config/model",
        body={"scope": 1, "model_type": "large", "model": {"model": "m", "provider": "p"}},
    ),
    Row(50, "POST", f"{ONE}/config/compact", body={"scope": 0, "enabled": True}),
    Row(
        51,
        "POST",
        f"{ONE}/config/provider-key",
        body={"scope": 0, "provider_id": "openai", "kind": "string", "api_key": "sk"},
    ),
    Row(52, "POST", f"{ONE}/config/import-copilot", says=b'{"token":null,"success":false}'),
    Row(
        53,
        "POST",
        f"{ONE}/config/refresh-oauth",
        body={"scope": 0, "provider_id": "hyper"},
        status=404,
        says=b'{"message":"provider hyper not found"}',
    ),
    Row(54, "GET", f"{ONE}/project/needs-init", says=b'{"needs_init":true}'),
    Row(55, "POST", f"{ONE}/project/init"),
    Row(56, "GET", f"{ONE}/project/init-prompt", says=b'{"prompt":"Describe this project."}'),
    Row(57, "GET", f"{ONE}/skills", says=b"[]"),
    Row(
        58,
        "POST",
        f"{ONE}/skills/read",
        body={"skill_id": "/x/SKILL.md"},
        status=404,
        says=b'{"message":"skill not found: /x/SKILL.md"}',
    ),
    Row(59, "POST", f"{ONE}/mcp/refresh-tools", body={"name": "srv"}),
    Row(
        60,
        "POST",
        f"{ONE}/mcp/read-resource",
        body={"name": "srv", "uri": "file:///x"},
        status=404,
        says=b'{"message":"mcp \'srv\' not found in configuration"}',
    ),
    Row(61, "GET", f"{ONE}/mcp/prompts", says=b"[]"),
    Row(
        62,
        "POST",
        f"{ONE}/mcp/get-prompt",
        body={"client_id": "srv", "prompt_id": "review", "args": {"focus": "perf"}},
        status=404,
        says=b'{"message":"mcp \'srv\' not found in configuration"}',
    ),
    Row(63, "GET", f"{ONE}/mcp/states", says=b"{}", knows_id=False),
    Row(64, "GET", f"{ONE}/mcp/pending-auth", says=b"[]"),
    Row(65, "GET", f"{ONE}/mcp/auth-url", query="name=srv", says=b"{}", knows_id=False),
    Row(
        66,
        "POST",
        f"{ONE}/mcp/auth",
        body={"name": "srv"},
        status=404,
        says=b'{"message":"mcp \'srv\' not found in configuration"}',
    ),
    Row(67, "POST", f"{ONE}/mcp/refresh-prompts", body={"name": "srv"}, knows_id=False),
    Row(68, "POST", f"{ONE}/mcp/refresh-resources", body={"name": "srv"}, knows_id=False),
    Row(
        69,
        "POST",
        f"{ONE}/mcp/docker/enable",
        status=503,
        says=b'{"message":"docker mcp is not available"}',
    ),
    Row(70, "POST", f"{ONE}/mcp/docker/disable"),
]
OF_A_WORKSPACE = [row for row in ROWS if "{id}" in row.path]
WITH_A_BODY = [row for row in ROWS if row.body is not None]


def named(row: Row) -> str:
    return f"{row.number} {row.method} {row.path}"


async def asked(house: Front, row: Row, *, workspace: str, session: str, body: Any = None) -> Answered:
    path = row.path.format(id=workspace, sid=session, client_id=CLIENT)
    query = row.query.replace("S", session)
    said = {key: session if value == "S" else value for key, value in row.body.items()} if row.body else None
    if row.number == 12 and workspace != "nobody":
        async with house.http.stream(f"{path}?{query}") as stream:
            return Answered(stream.status, stream.headers, b"")
    return await house.http.ask(row.method, f"{path}?{query}" if query else path, body if body is not None else said)


@pytest.mark.parametrize("row", ROWS, ids=named)
async def test_each_route_of_the_original_answers_exactly_as_it_does(row: Row) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client("/p", id=CLIENT)
            session = await client.session("T")
            answered = await asked(house, row, workspace=client.workspace, session=session)
    assert answered.status == row.status, answered.body
    if row.says is not ANY:
        assert plain(answered.body, client, session) == row.says
        ends = (b"" if row.says == b"" else b"\n", "" if row.says == b"" else "application/json")
        assert (answered.body[-1:], answered.headers.get("content-type", "")) == ends


def plain(body: bytes, client: Client, session: str) -> bytes:
    """The body without what is new in every run."""
    told = body.removesuffix(b"\n").replace(session.encode(), b"S").replace(client.workspace.encode(), b"W")
    start, found, rest = told.partition(b'"go_version":"')
    return start + found + b"PYTHON" + rest[rest.index(b'"') :] if found else told


@pytest.mark.parametrize("row", OF_A_WORKSPACE, ids=named)
async def test_an_unknown_workspace_is_told_by_every_route_that_looks_for_it(row: Row) -> None:
    with fail_after(5):
        async with front() as house:
            answered = await asked(house, row, workspace="nobody", session="s")
    if row.knows_id:
        assert (answered.status, answered.body) == (404, b'{"message":"workspace not found"}\n')
    else:
        assert answered.status == 200


@pytest.mark.parametrize("row", WITH_A_BODY, ids=named)
@pytest.mark.parametrize("body", [b"not json", b'{"unfinished', b"[]"], ids=["no JSON", "half of it", "an array"])
async def test_a_body_that_cannot_be_read_is_refused_by_every_route_that_reads_one(row: Row, body: bytes) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client("/p", id=CLIENT)
            session = await client.session("T")
            answered = await asked(house, row, workspace=client.workspace, session=session, body=body)
    assert answered.status == 400
    assert answered.json()["message"].startswith("failed to decode request")


def test_the_table_is_whole_and_every_route_of_it_exists() -> None:
    assert [row.number for row in ROWS] == list(range(1, 71))
    ours = {(route.method, route.path) for route in all_routes() if not route.own}
    table = {(row.method, row.path.replace("/gopls/", "/{lsp}/")) for row in ROWS}
    assert table <= ours
    assert {path for _, path in ours - table} == {"/v1/docs/", "/v1/docs/index.html", "/v1/docs/doc.json"}


async def test_a_body_may_be_missing_only_where_nothing_is_asked_for() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client("/p", id=CLIENT)
            session = await client.session("T")
            refused = [
                row.number
                for row in WITH_A_BODY
                if (await asked(house, row, workspace=client.workspace, session=session, body=b"")).status == 400
            ]
    # Saying nothing of who is there means that nobody is (37).
    assert refused == [row.number for row in WITH_A_BODY if row.number != 37]
