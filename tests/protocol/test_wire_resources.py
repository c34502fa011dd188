"""Workspaces, prompts, servers, skills and changes of configuration: the original's examples, byte for byte."""

import json

import msgspec
import pytest

from turnkeeper.protocol.config import (
    Config,
    ModelEntry,
    OAuthToken,
    Options,
    ProviderConfig,
    ProviderEntry,
    Scope,
    SelectedModel,
)
from turnkeeper.protocol.problems import BadRequest, PromptEmpty, WorkspaceNotFound
from turnkeeper.protocol.runs import Attachment, Prompt, RunOptions
from turnkeeper.protocol.wire import encode, unix_seconds
from turnkeeper.protocol.wire_prompts import (
    AgentMessage,
    ShellCommandRequest,
    ShellCommandResponse,
    WireAttachment,
    agent_message,
    attachments_to_wire,
    prompt_from_wire,
)
from turnkeeper.protocol.wire_reading import decode, read
from turnkeeper.protocol.wire_servers import (
    AuthUrl,
    Diagnostics,
    FileOpened,
    LSPClientInfo,
    LSPState,
    MCPArgument,
    MCPClientInfo,
    MCPName,
    MCPPrompt,
    MCPPromptRequest,
    MCPState,
    PendingAuth,
    PromptText,
    ReadSkill,
    ResourceContents,
    ResourceRequest,
    SkillInfo,
    SkillRequest,
    SkillResult,
    SkillStanding,
    lsp_client_info,
    mcp_client_info,
)
from turnkeeper.protocol.wire_workspaces import (
    AgentInfo,
    AgentInit,
    ConfigCompact,
    ConfigModel,
    ConfigRemove,
    ConfigSet,
    Control,
    ImportedCopilot,
    InitPrompt,
    NeedsInit,
    ProviderKey,
    RefreshOAuth,
    VersionInfo,
    Workspace,
    WorkspaceCreation,
    environment,
    problem_body,
    provider_key,
)

KEY = "sk-hunter2"
EXAMPLES: list[tuple[str, msgspec.Struct]] = [
    (
        '{"version":"v0.60.0","commit":"abc1234","build_id":"abc1234","go_version":"go1.26.6","platform":"linux/amd64"}',
        VersionInfo("v0.60.0", "abc1234", "abc1234", "go1.26.6", "linux/amd64"),
    ),
    ('{"command":"shutdown_if_idle"}', Control("shutdown_if_idle")),
    (
        (
            '{"session_id":"S","run_id":"5f1e","prompt":"hi","attachments":[{"content":"aGVsbG8=","file_path":"/p/a.txt",'
            '"file_name":"a.txt","mime_type":"text/plain"}]}'
        ),
        AgentMessage("S", "5f1e", "hi", (WireAttachment(b"hello", "/p/a.txt", "a.txt", "text/plain"),)),
    ),
    ('{"session_id":"S","prompt":"hi"}', AgentMessage("S", prompt="hi")),
    ('{"interactive":true}', AgentInit(interactive=True)),
    ('{"session_id":"","command":"ls","term_width":118}', ShellCommandRequest("", "ls", 118)),
    ('{"output":"a.go\\n","exit_code":0}', ShellCommandResponse("a.go\n", 0)),
    ('{"scope":0,"key":"options.debug","value":true}', ConfigSet(0, "options.debug", value=True)),
    ('{"scope":0,"key":"providers.hyper.oauth"}', ConfigRemove(0, "providers.hyper.oauth")),
    (
        '{"scope":1,"model_type":"large","model":{"model":"gpt-x","provider":"openai"}}',
        ConfigModel(1, "large", SelectedModel("gpt-x", "openai")),
    ),
    ('{"scope":0,"enabled":true}', ConfigCompact(0, enabled=True)),
    ('{"scope":0,"provider_id":"hyper"}', RefreshOAuth(0, "hyper")),
    ('{"token":null,"success":false}', ImportedCopilot()),
    ('{"needs_init":false}', NeedsInit()),
    ('{"prompt":"…"}', InitPrompt("…")),
    ('{"prompt":"…"}', PromptText("…")),
    ('{"path":"/home/u/proj/a.go"}', FileOpened("/home/u/proj/a.go")),
    ('{"name":"srv"}', MCPName("srv")),
    ('{"skill_id":"/s/SKILL.md"}', SkillRequest("/s/SKILL.md")),
    (
        '{"content":"aGk=","result":{"name":"x","description":"d","source":"user","builtin":false}}',
        ReadSkill(b"hi", SkillResult("x", "d", "user")),
    ),
    (
        '{"id":"/s","name":"x","description":"d","label":"user:x","source":"user","user_invocable":true}',
        SkillInfo("/s", "x", "d", "user:x", "user", user_invocable=True),
    ),
    ('{"name":"srv","uri":"file:///x"}', ResourceRequest("srv", "file:///x")),
    ('{"uri":"file:///x","mime_type":"text/plain","text":"…"}', ResourceContents("file:///x", "text/plain", "…")),
    ('{"uri":"file:///x","blob":"//8="}', ResourceContents("file:///x", blob=b"\xff\xff")),
    (
        '{"client_id":"srv","prompt_id":"review","args":{"focus":"perf"}}',
        MCPPromptRequest("srv", "review", {"focus": "perf"}),
    ),
    (
        '{"id":"srv:review","prompt_id":"review","client_id":"srv","arguments":[{"id":"f","title":"F","required":true}]}',
        MCPPrompt("srv:review", "", "", "review", "srv", (MCPArgument("f", "F", required=True),)),
    ),
    ('{"auth_url":"https://x"}', AuthUrl("https://x")),
    ("{}", AuthUrl()),
    ('{"name":"srv","url":"https://x"}', PendingAuth("srv", "https://x")),
    (
        '{"id":"","path":"/home/u/proj","version":"v0.60.0","client_id":"0b7a","env":["HOME=/home/u","PATH=/usr/bin"]}',
        Workspace(path="/home/u/proj", version="v0.60.0", client_id="0b7a", env=("HOME=/home/u", "PATH=/usr/bin")),
    ),
]


@pytest.mark.parametrize(("line", "value"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_every_example_is_read_and_written_to_the_byte(line: str, value: msgspec.Struct) -> None:
    assert encode(value).decode() == line
    kind = type(value)
    assert read(line.encode(), kind) == value


WORKSPACE = (
    '{"id":"9a7f","path":"/home/u/proj","data_dir":"/home/u/proj/.crush","version":"v0.60.0","config":{"models":'
    '{"large":{"model":"gpt-x","provider":"openai"},"small":{"model":"gpt-x-mini","provider":"openai"}},"providers":'
    '{"openai":{"id":"openai","name":"OpenAI","type":"openai","api_key":"sk-…","models":[{"id":"gpt-x","name":"GPT X",'
    '"cost_per_1m_in":1,"cost_per_1m_out":2,"cost_per_1m_in_cached":0,"cost_per_1m_out_cached":0,'
    '"context_window":200000,"default_max_tokens":8000,"can_reason":false,"supports_attachments":true}]}},"options":'
    '{"tui":{},"data_directory":"/home/u/proj/.crush","initialize_as":"AGENTS.md"}},"env":["HOME=/home/u",'
    '"PATH=/usr/bin"],"skills":[{"name":"crush-config","path":"crush://skills/crush-config/SKILL.md","state":0}]}'
)


def test_the_answer_to_a_create_has_exactly_the_originals_bytes() -> None:
    large = ModelEntry(
        "gpt-x", "GPT X", 1, 2, context_window=200000, default_max_tokens=8000, supports_attachments=True
    )
    workspace = Workspace(
        id="9a7f",
        path="/home/u/proj",
        data_dir="/home/u/proj/.crush",
        version="v0.60.0",
        config=Config(
            models={"large": SelectedModel("gpt-x", "openai"), "small": SelectedModel("gpt-x-mini", "openai")},
            providers={
                "openai": ProviderConfig("openai", "OpenAI", type="openai", api_key="sk-…", models=(large,)),
            },
            options=Options(data_directory="/home/u/proj/.crush", initialize_as="AGENTS.md"),
        ),
        env=("HOME=/home/u", "PATH=/usr/bin"),
        skills=(SkillStanding("crush-config", "crush://skills/crush-config/SKILL.md", 0),),
    )
    assert encode(workspace).decode() == WORKSPACE
    assert read(WORKSPACE.encode(), Workspace) == workspace


def test_of_a_create_only_what_is_asked_for_is_read() -> None:
    assert decode(WORKSPACE.encode(), WorkspaceCreation) == WorkspaceCreation(
        path="/home/u/proj",
        data_dir="/home/u/proj/.crush",
        version="v0.60.0",
        env=("HOME=/home/u", "PATH=/usr/bin"),
    )


def test_the_last_of_two_variables_wins_and_what_is_no_pair_is_skipped() -> None:
    assert environment(("A=1", "B=x=y", "A=2", "C", "=D", "E=")) == {"A": "2", "B": "x=y", "E": ""}


def test_an_agent_that_is_not_there_has_exactly_the_originals_zeroes() -> None:
    assert encode(AgentInfo()) == (
        b'{"is_busy":false,"is_ready":false,"model":{"id":"","name":"","cost_per_1m_in":0,"cost_per_1m_out":0,'
        b'"cost_per_1m_in_cached":0,"cost_per_1m_out_cached":0,"context_window":0,"default_max_tokens":0,'
        b'"can_reason":false,"supports_attachments":false},"model_cfg":{"model":"","provider":""}}'
    )


def test_an_error_has_one_key_and_it_is_message() -> None:
    assert encode(problem_body(WorkspaceNotFound())) == b'{"message":"workspace not found"}'
    assert encode(problem_body(PromptEmpty())) == b'{"message":"prompt is empty"}'


def test_a_prompt_without_attachments_says_nothing_of_them() -> None:
    assert encode(AgentMessage("S", "r", "hi")) == b'{"session_id":"S","run_id":"r","prompt":"hi"}'


def test_a_prompt_keeps_the_bytes_and_the_names_of_what_was_sent_along() -> None:
    attachment = Attachment("/p/a.txt", "a.txt", "text/plain", b"\x00\xff")
    body = encode(AgentMessage("S", "r", "hi", attachments_to_wire((attachment,))))
    assert prompt_from_wire(agent_message(body)) == Prompt("hi", (attachment,))


def test_an_attachment_without_content_is_empty() -> None:
    body = b'{"session_id":"S","prompt":"x","attachments":[{"file_path":"/p"}]}'
    assert prompt_from_wire(agent_message(body)).attachments == (Attachment("/p"),)


def test_our_own_clients_say_how_a_run_is_to_go() -> None:
    said = AgentMessage("S", "r", "hi", options=RunOptions(steps_max=3, interactive=False), foldable=True)
    assert agent_message(encode(said)) == said
    assert json.loads(encode(said))["options"] == {"steps_max": 3, "interactive": False}
    assert agent_message(b'{"session_id":"S"}').foldable is None


def test_a_key_of_kind_string_is_that_string() -> None:
    body = b'{"scope":0,"provider_id":"openai","kind":"string","api_key":"sk-hunter2"}'
    assert provider_key(body) == ProviderKey(0, "openai", "string", KEY)
    assert encode(provider_key(body)) == body


def test_a_key_of_kind_oauth_is_that_login() -> None:
    body = (
        b'{"scope":0,"provider_id":"hyper","kind":"oauth","api_key":'
        b'{"access_token":"a","refresh_token":"r","expires_in":60,"expires_at":1234567890}}'
    )
    assert provider_key(body) == ProviderKey(0, "hyper", "oauth", OAuthToken("a", "r", 60, 1234567890))
    assert encode(provider_key(body)) == body


def test_a_key_of_another_kind_is_refused_by_its_name() -> None:
    with pytest.raises(BadRequest) as caught:
        provider_key(b'{"kind":"bogus","api_key":"x"}')
    assert caught.value.message == 'unsupported api key kind "bogus"'


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"string","api_key":{"access_token":"hunter2"}}',
        b'{"kind":"oauth","api_key":"hunter2"}',
        b'{"kind":"oauth","api_key":{"access_token":["hunter2"]}}',
        b'{"kind":"string","api_key":"hunter2',
    ],
)
def test_a_key_that_is_not_of_its_kind_is_refused_without_being_shown(body: bytes) -> None:
    with pytest.raises(BadRequest, match="failed to decode request") as caught:
        provider_key(body)
    assert "hunter2" not in caught.value.message


def test_nothing_that_holds_a_secret_prints_it() -> None:
    for secretive in (
        ProviderKey(0, "openai", "string", KEY),
        ConfigSet(0, "providers.openai.api_key", KEY),
        Workspace(env=(f"OPENAI_API_KEY={KEY}",)),
        WorkspaceCreation(env=(f"OPENAI_API_KEY={KEY}",)),
    ):
        assert KEY not in repr(secretive)
        assert KEY not in f"{secretive}"


@pytest.mark.parametrize(("number", "file"), [(0, Scope.GLOBAL), (1, Scope.WORKSPACE), (2, Scope.GLOBAL), (-1, 0)])
def test_every_scope_but_the_workspaces_is_the_global_file(number: int, file: Scope) -> None:
    body = json.dumps({"scope": number, "key": "k"}).encode()
    assert decode(body, ConfigSet).file == file
    assert decode(body, ConfigRemove).file == file


def test_a_server_that_never_connected_did_so_in_the_year_one() -> None:
    assert encode(lsp_client_info("gopls", LSPState.STARTING)) == (
        b'{"name":"gopls","state":1,"connected_at":"0001-01-01T00:00:00Z"}'
    )
    assert encode(mcp_client_info("srv", MCPState.NEEDS_AUTH, error="e", tool_count=1)) == (
        b'{"error":"e","name":"srv","state":"needs auth","tool_count":1,"connected_at":"0001-01-01T00:00:00Z"}'
    )


def test_a_server_that_connected_tells_when() -> None:
    lsp = lsp_client_info("gopls", LSPState.READY, diagnostic_count=2, connected_at=1767362645)
    mcp = mcp_client_info("srv", MCPState.CONNECTED, prompt_count=1, resource_count=2, connected_at=1767362645)
    assert read(encode(lsp), LSPClientInfo) == lsp
    assert read(encode(mcp), MCPClientInfo) == mcp
    assert unix_seconds(lsp.connected_at) == 1767362645


def test_a_map_of_servers_with_a_null_in_it_is_read() -> None:
    assert read(b'{"srv":null}', dict[str, MCPClientInfo]) == {"srv": MCPClientInfo()}
    assert read(b"null", dict[str, MCPClientInfo]) == {}


def test_diagnostics_pass_through_exactly_as_the_language_server_said_them() -> None:
    line = (
        b'{"file:///a.go":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},"severity":1,'
        b'"code":"E1","codeDescription":{"href":"x"},"source":"go","message":"m","tags":[1],"data":{"a":null}}]}'
    )
    assert encode(read(line, Diagnostics)) == line


def test_a_catalogue_of_providers_is_read_even_if_it_is_null() -> None:
    line = (
        b'[{"name":"OpenAI","id":"openai","api_key":"$OPENAI_API_KEY","api_endpoint":"https://x","type":"openai",'
        b'"default_large_model_id":"l","default_small_model_id":"s","models":[{"id":"m","name":"M","cost_per_1m_in":0.5,'
        b'"cost_per_1m_out":1,"cost_per_1m_in_cached":0,"cost_per_1m_out_cached":0,"context_window":1,'
        b'"default_max_tokens":1,"can_reason":true,"supports_attachments":false}],"default_headers":{"H":"v"}}]'
    )
    assert encode(read(line, list[ProviderEntry])) == line
    assert read(b"null", list[ProviderEntry]) == []
