"""The wire's own frame: JSON on one line, envelopes, SSE bytes, and how times are spelled.

The objects that travel in it are in the `wire_…` modules beside this one; reading them is in `wire_reading`.

Promised here: every JSON text is one line of compact UTF-8, whatever was put into it, and an envelope's payload is an
object within an object, never a string.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal, cast

import msgspec

from turnkeeper.protocol.config import Number
from turnkeeper.protocol.problems import BadRequest

EventType = Literal["created", "updated", "deleted"]

NEVER = "0001-01-01T00:00:00Z"
"""How the wire spells a moment that has not come: neither null nor empty."""

HEARTBEAT = b"\n"
"""What keeps a stream awake without any reader noticing: a blank line."""

_ENCODER = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    """One line of compact JSON."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; the original writes U+FFFD in its place, and so do we.
        import json

        return json.dumps(mended(msgspec.to_builtins(value)), ensure_ascii=False, separators=(",", ":")).encode()


def answer(value: object) -> bytes:
    """A response body: JSON and the newline every response of the original ends with."""
    return encode(value) + b"\n"


def mended(value: Any) -> Any:
    """The same value with every lone surrogate in its texts replaced by U+FFFD."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return {mended(key): mended(held) for key, held in items}
        case list() | tuple():
            return [mended(held) for held in cast("Sequence[Any]", value)]
        case _:
            return value


def envelope(kind: str, event_type: EventType, payload: object) -> bytes:
    """An event as the stream carries it: kind, within it what happened, within it the object.

    `payload` may be a `msgspec.Raw`, so that what was encoded once for one watcher serves all of them.
    """
    return b'{"type":%b,"payload":{"type":"%b","payload":%b}}' % (
        encode(kind),
        event_type.encode(),
        encode(payload),
    )


def frame(line: bytes, *, position: int | None = None) -> bytes:
    """The bytes of one SSE event. The original sends no `id:` line and skips the ones it is sent."""
    head = b"" if position is None else b"id: %d\n" % position
    return head + b"data: " + line + b"\n\n"


def rfc3339(seconds: int, zone: tzinfo | None = None) -> str:
    """A Unix time as the wire spells moments, in `zone` or else the server's own; 0 is `NEVER`."""
    if seconds <= 0:
        return NEVER
    return datetime.fromtimestamp(seconds, UTC).astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")


def unix_seconds(text: str) -> int:
    """The Unix time of a moment the wire spelled; `NEVER`, and every moment before 1970, is 0."""
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest("failed to decode answer: a time is not RFC 3339") from error
    return max(0, int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()))


def number(value: float) -> Number:
    """A number as the original writes it: without a fraction where there is none."""
    return int(value) if value.is_integer() else value
