"""The configuration as the wire shows it."""

import json

import pytest

from turnkeeper.protocol.config import (
    Config,
    MCPConfig,
    ModelEntry,
    OAuthClient,
    OAuthToken,
    Options,
    ProviderConfig,
    ProviderEntry,
    Scope,
    SelectedModel,
)
from turnkeeper.protocol.wire import encode
from turnkeeper.protocol.wire_reading import read

EVERYTHING = {
    "$schema": "s",
    "models": {
        "large": {
            "model": "m",
            "provider": "p",
            "reasoning_effort": "high",
            "think": True,
            "max_tokens": 5,
            "temperature": 0.5,
            "top_p": 1,
            "top_k": 3,
            "frequency_penalty": 0.1,
            "presence_penalty": 0,
            "provider_options": {"a": {"b": 1}},
        }
    },
    "recent_models": {"large": [{"model": "m", "provider": "p"}]},
    "providers": {
        "p": {
            "id": "p",
            "name": "P",
            "base_url": "u",
            "type": "openai",
            "api_key": "k",
            "oauth": {
                "access_token": "a",
                "refresh_token": "r",
                "expires_in": 1,
                "expires_at": 2,
                "client": {
                    "client_id": "i",
                    "client_secret": "s",
                    "auth_url": "a",
                    "token_url": "t",
                    "auth_style": 1,
                },
            },
            "disable": True,
            "system_prompt_prefix": "x",
            "extra_headers": {"H": "v"},
            "extra_body": {"a": [1]},
            "provider_options": {"o": None},
            "aws_auth_refresh": "c",
            "flat_rate": True,
            "discover_models": False,
            "models": [
                {
                    "id": "m",
                    "name": "M",
                    "cost_per_1m_in": 1.5,
                    "cost_per_1m_out": 2,
                    "cost_per_1m_in_cached": 0,
                    "cost_per_1m_out_cached": 0,
                    "context_window": 10,
                    "default_max_tokens": 5,
                    "can_reason": True,
                    "reasoning_levels": ["low", "high"],
                    "default_reasoning_effort": "low",
                    "supports_attachments": False,
                    "options": {"temperature": 1},
                }
            ],
        }
    },
    "mcp": {
        "srv": {
            "command": "c",
            "env": {"A": "b"},
            "args": ["x"],
            "type": "http",
            "url": "u",
            "disabled": True,
            "disabled_tools": ["a"],
            "enabled_tools": ["b"],
            "timeout": 5,
            "headers": {"H": "v"},
            "oauth": True,
            "oauth_client_id": "i",
            "oauth_client_secret": "s",
            "oauth_callback_port": 9,
            "oauth_token": {"access_token": "a", "expires_in": 0, "expires_at": 0},
        }
    },
    "lsp": {
        "go": {
            "disabled": True,
            "command": "c",
            "args": ["x"],
            "env": {"A": "b"},
            "filetypes": ["go"],
            "root_markers": ["go.mod"],
            "init_options": {"a": 1},
            "options": {"b": 2},
            "timeout": 5,
        }
    },
    "options": {
        "context_paths": ["a"],
        "global_context_paths": ["b"],
        "skills_paths": ["c"],
        "tui": {
            "compact_mode": True,
            "diff_mode": "split",
            "completions": {"max_depth": 0, "max_items": 5},
            "transparent": False,
            "scrollbar": "never",
        },
        "debug": True,
        "debug_lsp": True,
        "disable_auto_summarize": True,
        "data_directory": "/d",
        "disabled_tools": ["bash"],
        "disable_provider_auto_update": True,
        "disable_default_providers": True,
        "attribution": {"trailer_style": "none", "co_authored_by": False, "generated_with": True},
        "disable_metrics": True,
        "initialize_as": "A.md",
        "auto_lsp": False,
        "progress": False,
        "notifications": "bell",
        "disabled_skills": ["s"],
    },
    "permissions": {"allowed_tools": ["bash:execute"]},
    "tools": {"ls": {"max_depth": 0, "max_items": 5}, "grep": {"timeout": 5000000000}, "glob": {"timeout": 1}},
    "hooks": {"PreToolUse": [{"name": "n", "matcher": "bash", "command": "c", "timeout": 5}]},
    "env": {"A": "b"},
}


def test_every_key_of_a_configuration_is_read_and_written_in_the_originals_order() -> None:
    line = json.dumps(EVERYTHING, separators=(",", ":")).encode()
    assert encode(read(line, Config)) == line


def test_an_empty_configuration_still_has_what_the_originals_client_reads_unasked() -> None:
    assert encode(Config()) == b'{"providers":{},"options":{"tui":{}}}'


@pytest.mark.parametrize("body", [b"null", b"{}", b'{"options":null,"providers":null}', b'{"options":{"tui":null}}'])
def test_a_configuration_that_says_nothing_or_null_is_an_empty_one(body: bytes) -> None:
    assert read(body, Config) == Config()


def test_a_refusal_is_told_from_saying_nothing() -> None:
    assert read(b'{"auto_lsp":false}', Options).auto_lsp is False
    assert read(b'{"auto_lsp":null}', Options).auto_lsp is None
    assert encode(Options(auto_lsp=False, progress=True)) == b'{"tui":{},"auto_lsp":false,"progress":true}'


def test_what_is_always_there_stays_when_it_is_empty() -> None:
    assert encode(SelectedModel()) == b'{"model":"","provider":""}'
    assert encode(OAuthToken()) == b'{"access_token":"","expires_in":0,"expires_at":0}'
    assert encode(ProviderEntry()) == b'{"name":"","id":""}'
    assert encode(MCPConfig()) == b'{"type":"stdio"}'
    assert encode(ModelEntry()).count(b":") == 10


def test_prices_and_samplings_of_zero_are_told_from_none() -> None:
    assert encode(SelectedModel("m", "p", temperature=0)) == b'{"model":"m","provider":"p","temperature":0}'


def test_one_provider_that_is_not_disabled_is_enough_to_be_configured() -> None:
    assert not Config().is_configured
    assert not Config(providers={"a": ProviderConfig(disable=True)}).is_configured
    assert Config(providers={"a": ProviderConfig(disable=True), "b": ProviderConfig()}).is_configured


def test_a_scope_nobody_knows_is_the_global_one() -> None:
    assert [Scope.of(number) for number in (-1, 0, 1, 2)] == [
        Scope.GLOBAL,
        Scope.GLOBAL,
        Scope.WORKSPACE,
        Scope.GLOBAL,
    ]


def test_no_key_and_no_token_is_ever_printed() -> None:
    login = OAuthToken("hunter2", "hunter2", client=OAuthClient(client_secret="hunter2"))
    provider = ProviderConfig("p", api_key="hunter2", oauth=login, extra_headers={"Authorization": "hunter2"})
    mcp = MCPConfig(env={"TOKEN": "hunter2"}, oauth_client_secret="hunter2", oauth_token=login)
    config = Config(providers={"p": provider}, mcp={"srv": mcp}, env={"KEY": "hunter2"})
    for secretive in (login, login.client, provider, mcp, config):
        assert "hunter2" not in repr(secretive)
