"""Claude at Bedrock: the same answers in AWS's own framing, which is binary and has refusals of its own."""

import base64
import importlib.util
import json
import struct
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import botocore.exceptions
import google.auth.exceptions
import httpx2
import pytest

from tests.models.scenes import INFO, adapter, answer
from turnkeeper.models.connection import Connection, Voice
from turnkeeper.models.model import (
    Chunk,
    Finished,
    ModelTrouble,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
    Trouble,
    UsageSaid,
)
from turnkeeper.models.quirks import quirks_of
from turnkeeper.models.troubles import refusal, trouble_of
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason
from turnkeeper.protocol.runs import Usage

pytestmark = pytest.mark.anyio


def framed(payload: bytes, **headers: str) -> bytes:
    """A message as AWS frames it: lengths, headers and payload, each part with its checksum."""
    named = b"".join(
        bytes([len(name) + 1])
        + b":"
        + name.replace("_", "-").encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", len(named) + len(payload) + 16, len(named))
    start = prelude + struct.pack(">I", zlib.crc32(prelude)) + named + payload
    return start + struct.pack(">I", zlib.crc32(start))


def said(event: dict[str, Any]) -> bytes:
    inner = json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode()}).encode()
    return framed(inner, message_type="event", event_type="chunk", content_type="application/json")


def refused(kind: str, message: str) -> bytes:
    inner = json.dumps({"message": message}).encode()
    return framed(inner, message_type="exception", exception_type=kind, content_type="application/json")


def started() -> dict[str, Any]:
    usage = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "c",
        "content": [],
        "usage": usage,
    }
    return {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None}}


def block(index: int, begun: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


EVENTS = [
    started(),
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "sealed"},
    ),
    *block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "I look."}),
    *block(
        2,
        {"type": "tool_use", "id": "call-1", "name": "ls", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"path": "ü"}'},
    ),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 7},
    },
    {"type": "message_stop"},
]


async def heard(pieces: Sequence[bytes], *, key: str = "bedrock-key") -> list[Chunk]:
    """What is heard of these bytes, cut anywhere."""

    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    def answered(request: httpx2.Request) -> httpx2.Response:
        assert request.url.path.endswith("/invoke-with-response-stream")
        return httpx2.Response(200, headers={"content-type": "application/vnd.amazon.eventstream"}, content=stream())

    connection = Connection("aws", "bedrock", api_key=key)
    quirks = quirks_of(connection)
    assert quirks is not None
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answered)) as http:
        return await answer(adapter("anthropic", Voice(connection, INFO), quirks, http))


async def test_an_answer_in_awss_framing_is_heard_like_any_other() -> None:
    whole = b"".join(map(said, EVENTS))
    call = ToolCallId("call-1")
    expected = [
        ReasoningSaid("hm"),
        ReasoningDone("sealed"),
        TextSaid("I look."),
        ToolCallBegun(call, "ls"),
        ToolInputSaid(call, '{"path": "ü"}'),
        ToolCallDone(call, "ls", '{"path": "ü"}'),
        UsageSaid(Usage(input_tokens=9, output_tokens=7, cache_read_tokens=4, cache_write_tokens=2)),
        Finished(FinishReason.TOOL_USE),
    ]
    for size in (len(whole), 7):
        assert await heard([whole[start : start + size] for start in range(0, len(whole), size)]) == expected


@pytest.mark.parametrize(
    ("kind", "message", "trouble"),
    [
        ("throttlingException", "Too many requests", Trouble.BUSY),
        ("modelStreamErrorException", "The model broke off", Trouble.BUSY),
        ("internalServerException", "An internal error occurred", Trouble.BUSY),
        ("serviceUnavailableException", "Come back later", Trouble.BUSY),
        ("modelTimeoutException", "It took too long", Trouble.BUSY),
        ("validationException", "no such parameter", Trouble.REFUSED),
        ("validationException", "Input is too long for requested model.", Trouble.CONTEXT_FULL),
    ],
)
async def test_a_refusal_in_the_middle_tells_whether_asking_again_helps(
    kind: str, message: str, trouble: Trouble
) -> None:
    pieces = [said(event) for event in EVENTS[:6]]
    with pytest.raises(ModelTrouble) as caught:
        await heard([*pieces, refused(kind, message)])
    assert (caught.value.trouble, caught.value.message) == (trouble, message)


async def test_an_answer_that_breaks_off_or_is_damaged_is_a_cut() -> None:
    whole = b"".join(map(said, EVENTS))
    damaged = whole[:400] + bytes([whole[400] ^ 1]) + whole[401:]
    for broken in (whole[:-200], damaged):
        with pytest.raises(ModelTrouble) as caught:
            await heard([broken])
        assert caught.value.trouble is Trouble.CUT


async def test_without_awss_library_it_says_what_to_install_also_to_who_has_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing_found(_name: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", nothing_found)
    with pytest.raises(ModelTrouble, match=r"install turnkeeper\[bedrock\]"):
        await heard([])


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (botocore.exceptions.NoCredentialsError(), Trouble.AUTH),
        (botocore.exceptions.TokenRetrievalError(provider="sso", error_msg="Token has expired"), Trouble.AUTH),
        (google.auth.exceptions.RefreshError("invalid_grant"), Trouble.AUTH),
        (RuntimeError("Could not resolve AWS credentials from session"), Trouble.AUTH),
        (RuntimeError("something else"), Trouble.REFUSED),
    ],
)
def test_credentials_that_are_not_to_be_had_are_trouble_with_them(error: Exception, trouble: Trouble) -> None:
    assert trouble_of(error, Connection("aws", "bedrock")).trouble is trouble


@pytest.mark.parametrize(
    ("message", "trouble"),
    [
        ("The security token included in the request is expired", Trouble.AUTH),
        ("You don't have access to the model with the specified model ID.", Trouble.REFUSED),
    ],
)
def test_a_403_of_awss_may_be_what_others_call_401(message: str, trouble: Trouble) -> None:
    refused_with = refusal(Connection("aws", "bedrock"), status=403, kind=message, message=message)
    assert refused_with.trouble is trouble
