"""The whole of the generated document, asked in every way it allows and in many it does not.

Whatever is sent, the answer comes in time, its status and its shape are documented, and nothing breaks. The server is a
whole one on a real socket; only its models, its shell and its memory are doubles.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest
import requests
import schemathesis
from anyio import to_thread
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import (
    CHECKS,  # pyright: ignore[reportUnknownVariableType] - theirs says not what it holds
)
from schemathesis.generation.modes import GenerationMode

from tests.server.plain import served
from turnkeeper.models.scripted import Say, ScriptedModel, turn
from turnkeeper.server.openapi import EMPTY_UNLESS_ASKED, document

pytestmark = [pytest.mark.slow]

EXAMPLES = 25
"""For each operation."""
ANSWER_SECONDS_MAX = 10.0
ANCHOR, OTHER = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11", "8f14e45f-ceea-467f-9575-2f1d0a6f5a10"
SCHEMA = cast("Any", schemathesis).openapi.from_dict(document("test"))
OPERATIONS: dict[str, Any] = {
    f"{one.method.upper()} {one.path}": one for one in (found.ok() for found in SCHEMA.get_all_operations())
}
KEPT = [cast("Any", CHECKS).get_one(name) for name in ("status_code_conformance", "response_schema_conformance")]


@dataclass
class Fuzzed:
    """A server with a workspace that somebody watches, and what the parameters of paths may name in it."""

    address: str
    things: dict[str, str]


@asynccontextmanager
async def fuzzed() -> AsyncGenerator[Fuzzed]:
    async with served(tcp=True, large=ScriptedModel([turn(Say("done"))], again=True)) as door:
        client = await door.house.client(id=ANCHOR)
        session = await client.session()
        async with client.events() as events:
            await client.prompt(session, "go", "r1")
            await events.next("run_complete")
            things = {"id": client.workspace, "sid": session, "session_id": session, "client_id": OTHER}
            things |= {"run_id": "r1", "path": "/front"}
            yield Fuzzed(f"http://127.0.0.1:{door.port}", things)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
async def test_whatever_is_asked_is_answered_as_documented(name: str) -> None:
    async with fuzzed() as door:
        # In a thread, since the server is here.
        await to_thread.run_sync(ask_all_ways, OPERATIONS[name], door)


def ask_all_ways(operation: Any, door: Fuzzed) -> None:
    documented: dict[str, Any] = operation.definition.raw["responses"]
    streams = operation.path.endswith("/events")

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(
        case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        named=st.sampled_from([(), ("id",), tuple(door.things), tuple(door.things)]),
    )
    def ask(case: Any, named: tuple[str, ...]) -> None:
        for holder in (case.path_parameters, case.query, case.body):
            if isinstance(holder, dict):
                cast("dict[str, Any]", holder).update({name: door.things[name] for name in named if name in holder})
        asked: dict[str, Any] = case.as_transport_kwargs(base_url=door.address)
        asked |= {"timeout": ANSWER_SECONDS_MAX, "allow_redirects": False, "stream": streams}
        with requests.request(**asked) as answer:
            assert answer.status_code != 500, answer.text
            assert str(answer.status_code) in documented
            said = documented[str(answer.status_code)]["description"]
            if not streams and (answer.content or said != EMPTY_UNLESS_ASKED):
                case.validate_response(answer, checks=KEPT)

    ask()
