"""Changes of the configuration: everybody is told of those that happened, and of no other."""

from typing import Any

import pytest
from anyio import fail_after

from turnkeeper.testing.front import front

CHANGES: list[tuple[str, Any]] = [
    ("/config/set", {"scope": 0, "key": "options.debug", "value": True}),
    ("/config/remove", {"scope": 1, "key": "options.debug"}),
    ("/config/model", {"scope": 0, "model_type": "large", "model": {"model": "m", "provider": "p"}}),
    ("/config/compact", {"scope": 0, "enabled": True}),
    ("/config/provider-key", {"scope": 0, "provider_id": "openai", "kind": "string", "api_key": "sk"}),
    ("/project/init", None),
    ("/mcp/docker/disable", None),
]
QUIET: list[tuple[str, Any, int]] = [
    ("/config/import-copilot", None, 200),
    ("/config/refresh-oauth", {"scope": 0, "provider_id": "unknown"}, 404),
    ("/config/provider-key", {"scope": 0, "provider_id": "p", "kind": "bogus", "api_key": "sk"}, 400),
    ("/mcp/docker/enable", None, 503),
    ("/permissions/skip", {"skip": True}, 200),
]


@pytest.mark.parametrize(("rest", "body"), CHANGES, ids=[rest for rest, _ in CHANGES])
async def test_a_change_is_told_to_everybody_in_its_workspace_and_to_nobody_else(rest: str, body: Any) -> None:
    with fail_after(5):
        async with front() as house:
            one, other, apart = [await house.client(path) for path in ("/p", "/p", "/apart")]
            async with one.events() as own, other.events() as others, apart.events() as elsewhere:
                answered = await house.http.post(one.path(rest), body)
                told = [await stream.any() for stream in (own, others)]
                await apart.session("x")
                heard = await elsewhere.any()
    assert (answered.status, answered.body) == (200, b"")
    assert [(one.kind, one.type) for one in told] == [("config_changed", "updated")] * 2
    assert [one_.payload for one_ in told] == [{"workspace_id": one.workspace}] * 2
    assert heard.kind == "session"


@pytest.mark.parametrize(("rest", "body", "status"), QUIET, ids=[rest for rest, _, _ in QUIET])
async def test_what_changes_nothing_in_the_configuration_is_not_told(rest: str, body: Any, status: int) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            async with client.events() as events:
                answered = await house.http.post(client.path(rest), body)
                await client.session("x")
                heard = await events.any()
    assert (answered.status, heard.kind) == (status, "session")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"kind": "bogus", "api_key": "sk-secret"}, 'unsupported api key kind "bogus"'),
        ({"kind": "string", "api_key": {"access_token": "sk-secret"}}, "failed to decode request: api_key must be"),
        ({"kind": "oauth", "api_key": "sk-secret"}, "failed to decode request: api_key must be"),
    ],
)
async def test_a_credential_that_is_none_is_refused_without_being_shown(body: Any, message: str) -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            refused = await house.http.post(client.path("/config/provider-key"), {"provider_id": "openai", **body})
    assert refused.status == 400
    assert refused.json()["message"].startswith(message)
    assert b"sk-secret" not in refused.body


async def test_a_project_that_was_described_need_not_be_described_again() -> None:
    with fail_after(5):
        async with front() as house:
            client = await house.client()
            needs = [(await house.http.get(client.path("/project/needs-init"))).body]
            await house.http.post(client.path("/project/init"))
            needs.append((await house.http.get(client.path("/project/needs-init"))).body)
    assert needs == [b'{"needs_init":true}\n', b'{"needs_init":false}\n']
