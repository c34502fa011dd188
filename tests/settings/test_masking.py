"""What of a configuration somebody sees who does not own it."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from turnkeeper.protocol.config import Config
from turnkeeper.settings.masking import HIDDEN, masked, masked_text, visible

SECRET = "zq7-Hidden-Value-42"


def config(tree: Any) -> Config:
    return msgspec.convert(tree, Config)


def shown(tree: Any) -> str:
    return msgspec.json.encode(masked(config(tree))).decode()


PLACES: list[Any] = [
    {"providers": {"p": {"api_key": SECRET}}},
    {"providers": {"p": {"api_key": f"${{A:-{SECRET}}}"}}},
    {"providers": {"p": {"extra_headers": {"X-Anything": f"Bearer {SECRET}"}}}},
    {"providers": {"p": {"extra_body": {"deep": [{"client_secret": SECRET}]}}}},
    {"providers": {"p": {"provider_options": {"credentials": {"a": [SECRET]}}}}},
    {"providers": {"p": {"base_url": f"https://user:{SECRET}@host/v1"}}},
    {"providers": {"p": {"base_url": f"https://host/v1?k={SECRET}"}}},
    {"providers": {"p": {"oauth": {"access_token": SECRET}}}},
    {"providers": {"p": {"oauth": {"refresh_token": SECRET}}}},
    {"providers": {"p": {"oauth": {"client": {"client_secret": SECRET}}}}},
    {"mcp": {"m": {"type": "stdio", "env": {"ANYTHING": SECRET}}}},
    {"mcp": {"m": {"type": "http", "headers": {"Authorization": SECRET}}}},
    {"mcp": {"m": {"type": "http", "url": f"https://host/?token={SECRET}"}}},
    {"mcp": {"m": {"type": "http", "oauth_client_secret": SECRET}}},
    {"mcp": {"m": {"type": "http", "oauth_token": {"access_token": SECRET}}}},
    {"mcp": {"m": {"type": "stdio", "args": ["--token", SECRET]}}},
    {"mcp": {"m": {"type": "stdio", "args": [f"--api-key={SECRET}"]}}},
    {"lsp": {"l": {"env": {"A": SECRET}, "init_options": {"licenceKey": SECRET}}}},
    {"env": {"A": SECRET}},
    {"models": {"large": {"model": "m", "provider": "p", "provider_options": {"auth": SECRET}}}},
]


@pytest.mark.parametrize("tree", PLACES)
def test_a_secret_is_hidden_wherever_it_can_be(tree: Any) -> None:
    assert SECRET in msgspec.json.encode(config(tree)).decode()
    assert SECRET not in shown(tree)
    assert HIDDEN in shown(tree)


def test_a_secret_is_hidden_also_where_nobody_would_look_for_one() -> None:
    tree = {
        "providers": {"p": {"api_key": SECRET, "system_prompt_prefix": f"use {SECRET}"}},
        "hooks": {"PreToolUse": [{"command": f"check --with {SECRET}"}]},
        "mcp": {"m": {"type": "stdio", "command": "x", "args": [f"https://{SECRET}@host"]}},
    }
    assert SECRET not in shown(tree)


def test_a_secret_inside_another_does_not_uncover_the_rest_of_it() -> None:
    hooks = {"PreToolUse": [{"command": "say part-one-and-two"}]}
    tree: Any = {"env": {"A": "part-one"}, "providers": {"p": {"api_key": "part-one-and-two"}}, "hooks": hooks}
    assert "and-two" not in shown(tree)


def test_a_short_word_that_is_hidden_in_one_place_stays_readable_in_others() -> None:
    tree: Any = {"env": {"MODE": "test"}, "hooks": {"PreToolUse": [{"command": "./run-tests"}]}}
    assert "./run-tests" in shown(tree)
    assert '"test"' not in shown(tree)


def test_what_looks_like_a_key_is_hidden_in_any_text() -> None:
    tree = {"hooks": {"PreToolUse": [{"command": "curl -H ghp_abcdefghijklmnop1234 x"}]}}
    assert "ghp_abcdefghijklmnop1234" not in shown(tree)


def test_all_that_is_no_secret_stays_as_it_is() -> None:
    plain = config(
        {
            "models": {
                "large": {"model": "m", "provider": "p", "max_tokens": 5, "provider_options": {"budget_tokens": 1}}
            },
            "providers": {
                "p": {
                    "base_url": "https://host/v1",
                    "api_key": "$KEY",
                    "extra_headers": {"A": "${TOKEN}"},
                    "models": [{"id": "m", "default_max_tokens": 3}],
                }
            },
            "mcp": {"m": {"type": "stdio", "command": "npx", "args": ["-y", "server", "--port", "1"], "oauth": True}},
            "options": {"disabled_tools": ["bash"], "attribution": {"co_authored_by": True}},
            "hooks": {"PreToolUse": [{"command": "./check.sh"}]},
        }
    )
    assert masked(plain) == plain


def test_an_expiry_stays_so_that_a_client_can_tell_whether_a_login_still_holds() -> None:
    found = masked(config({"providers": {"p": {"oauth": {"access_token": SECRET, "expires_at": 7}}}}))
    token = found.providers["p"].oauth
    assert token is not None
    assert (token.access_token, token.expires_at) == (HIDDEN, 7)


def test_a_message_is_shown_without_the_secrets_of_the_configuration() -> None:
    found = config({"providers": {"p": {"api_key": SECRET}}})
    assert masked_text(f"401: key {SECRET} is wrong", found) == f"401: key {HIDDEN} is wrong"


def test_a_tree_can_be_printed_before_it_is_a_configuration() -> None:
    assert visible({"providers": {"p": {"api_key": SECRET, "name": "n"}}}) == {
        "providers": {"p": {"api_key": HIDDEN, "name": "n"}}
    }


secrets = some.text(alphabet="ABCDEFGHJKLMNPQRSTUVWXYZ0123456789-_/+=é", min_size=8, max_size=30).filter(
    lambda text: not (set(HIDDEN) >= set(text))
)
keys = some.sampled_from(["api_key", "token", "clientSecret", "password", "Authorization", "credentials", "x-auth"])
others = some.sampled_from(["name", "deep", "list", "other"])


@some.composite
def nested(draw: some.DrawFn, secret: str) -> dict[str, Any]:
    """The secret under a name that says so, inside objects and lists that do not."""
    value: Any = draw(some.sampled_from([secret, [{"a": secret}], {"b": [secret]}]))
    tree: dict[str, Any] = {draw(keys): value}
    for name in draw(some.lists(others, max_size=3)):
        tree = {name: draw(some.sampled_from([tree, [tree, "plain"]]))}
    return tree


@given(some.data(), secrets)
def test_no_secret_survives_however_deep_it_is(data: some.DataObject, secret: str) -> None:
    tree = {
        "providers": {
            "p": {
                "api_key": data.draw(some.sampled_from([secret, f"Bearer {secret}", ""])),
                "extra_headers": {"X": secret},
                "extra_body": data.draw(nested(secret)),
                "provider_options": data.draw(nested(secret)),
                "system_prompt_prefix": f"<{secret}>",
            }
        },
        "mcp": {"m": {"type": "stdio", "env": {"Z": secret}, "args": ["--key", secret, f"a={secret}"]}},
        "lsp": {"l": {"options": data.draw(nested(secret)), "args": [secret]}},
        "env": {"E": f"pre{secret}post"},
    }
    assert secret not in msgspec.json.decode(shown(tree), type=Any).__repr__()
