"""How a client reads the stream: one envelope a line, and whatever it does not know left as it came.

A kind we do not know is `Unknown`, and so is a payload of null; a key we do not know is skipped. What is no envelope at
all, or does not fit its kind, raises `BadRequest`, which a client notes and reads on.
"""

from typing import Any, cast

import msgspec

from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.wire_details import OWN_KINDS, OwnPayload
from turnkeeper.protocol.wire_events import KINDS, Payload
from turnkeeper.protocol.wire_messages import WireMessage
from turnkeeper.protocol.wire_own import Snapshot
from turnkeeper.protocol.wire_reading import first_value, fit


class Unknown(msgspec.Struct, frozen=True):
    """A payload we have no words for, as it came."""

    value: Any = None


class Envelope(msgspec.Struct, frozen=True):
    """One event: its kind, what happened (`created`, `updated`, `deleted`), and the object it happened to."""

    kind: str
    type: str
    payload: Payload | OwnPayload | Snapshot | Unknown


# Our own ending has every key of the original's, so it reads both.
_KINDS: dict[str, type[Payload | OwnPayload | Snapshot]] = {**KINDS, **OWN_KINDS, "snapshot": Snapshot}


class _FastInner(msgspec.Struct, frozen=True):
    type: str
    payload: WireMessage


class _FastEnvelope(msgspec.Struct, frozen=True):
    type: str
    payload: _FastInner


_FAST = msgspec.json.Decoder(_FastEnvelope)
_MESSAGE = b'{"type":"message","payload":'


def read_envelope(line: bytes) -> Envelope:
    """The event in `line`: the text after `data:`, without what is around it."""
    if line.startswith(_MESSAGE):
        # Messages are nearly all of the stream, and whole ones are long: they are read in one go where they can be.
        try:
            read = _FAST.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _read_slowly(line)
        return Envelope(read.type, read.payload.type, read.payload.payload)
    return _read_slowly(line)


def _read_slowly(line: bytes) -> Envelope:
    outer = _object(first_value(line, what="event"))
    inner = _object(outer.get("payload"))
    kind, event_type = outer.get("type"), inner.get("type")
    if not isinstance(kind, str) or not isinstance(event_type, str):
        raise BadRequest("failed to decode event: it is not an envelope")
    return Envelope(kind, event_type, _payload(kind, inner.get("payload")))


def _payload(kind: str, value: Any) -> Payload | OwnPayload | Snapshot | Unknown:
    shape = _KINDS.get(kind)
    if shape is None or value is None:
        return Unknown(value)
    return fit(value, shape, what="event")


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest("failed to decode event: it is not an envelope")
    return cast("dict[str, Any]", value)
