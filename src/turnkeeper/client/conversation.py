"""One conversation as a client knows it: its messages, and beside them what is still being written.

Frozen, and folded from what a feed tells. A delta joins on where it says (`offset`, in characters) or, where one before
it was missed, is left out; the finished part follows and is right whatever was seen. What is being written is kept as a
rope beside its message, so a delta costs what it says and copies nothing of what was said before.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from turnkeeper.client.rope import Rope, rope
from turnkeeper.protocol.ids import MessageId, SessionId
from turnkeeper.protocol.messages import Message, Part, PartKind, Reasoning, Role, Text, ToolCall
from turnkeeper.protocol.wire_details import MessageDropped, PartSaid, WireDelta
from turnkeeper.protocol.wire_messages import WireMessage, message_from_wire, part_from_wire
from turnkeeper.protocol.wire_stream import Envelope

_KINDS = {kind.value: kind for kind in PartKind}


class Spot(NamedTuple):
    """Where something is being written."""

    message_id: str
    part: int
    kind: PartKind


class Conversation(msgspec.Struct, frozen=True):
    messages: Mapping[str, Message] = {}
    """As they were said, in the order of the log."""
    drafts: Mapping[Spot, Rope] = {}
    is_whole: bool = False
    """Whether it was read from its beginning, and nothing was missed since."""
    meanwhile: tuple[Envelope, ...] | None = None
    """What was told since a reading began; None while nobody reads."""

    def shown(self) -> list[Message]:
        """The messages with what is being written in them."""
        written = {spot.message_id for spot in self.drafts}
        return [self.now(id) if id in written else message for id, message in self.messages.items()]

    def now(self, message_id: str) -> Message:
        """One message with what is being written in it."""
        message = self.messages[message_id]
        parts = list(message.parts)
        for spot in sorted(spot for spot in self.drafts if spot.message_id == message_id):
            if spot.kind is not PartKind.OUTPUT:
                _put(parts, spot.part, _written(parts, spot, self.drafts[spot].text))
        return replace(message, parts=tuple(parts))

    def output(self, message_id: str, index: int) -> str:
        """What the tool called by part `index` has put out so far."""
        return self.drafts.get(Spot(message_id, index, PartKind.OUTPUT), Rope()).text


def told(conversation: Conversation, envelope: Envelope) -> Conversation:
    """The conversation after one more event of it; events about other things leave it as it is."""
    after = _folded(conversation, envelope)
    if after.meanwhile is None:
        return after
    return replace(after, meanwhile=(*after.meanwhile, envelope))


def begun_reading(conversation: Conversation) -> Conversation:
    return replace(conversation, meanwhile=())


def read(conversation: Conversation, messages: Iterable[Message]) -> Conversation:
    """The conversation as it was read, and after it what was told while it was."""
    fresh = Conversation({message.id: message for message in messages}, is_whole=True)
    for envelope in conversation.meanwhile or ():
        fresh = _folded(fresh, envelope)
    return fresh


def at_rest(conversation: Conversation) -> Conversation:
    """After a run: what tools were still showing is over."""
    drafts = {spot: text for spot, text in conversation.drafts.items() if spot.kind is not PartKind.OUTPUT}
    return conversation if len(drafts) == len(conversation.drafts) else replace(conversation, drafts=drafts)


def _folded(conversation: Conversation, envelope: Envelope) -> Conversation:
    match envelope.payload:
        case WireDelta() as delta:
            return _heard(conversation, delta)
        case PartSaid() as said:
            return _part(conversation, said)
        case MessageDropped() as dropped:
            return _reset(conversation, dropped)
        case WireMessage() as wire:
            return _message(conversation, envelope.type, wire)
        case _:
            return conversation


def _heard(conversation: Conversation, delta: WireDelta) -> Conversation:
    message, kind = conversation.messages.get(delta.message_id), _KINDS.get(delta.part)
    if message is None or kind is None or delta.index < 0:
        return conversation
    spot = Spot(delta.message_id, delta.index, kind)
    known = conversation.drafts.get(spot)
    if known is None:
        known = _begun(message, spot)
    if known is None or delta.offset > known.length:
        return conversation
    more = delta.text[known.length - delta.offset :]
    if not more:
        return conversation
    return replace(conversation, drafts={**conversation.drafts, spot: known.plus(more)})


def _begun(message: Message, spot: Spot) -> Rope | None:
    """What is known already of the part a first delta writes to; None where nothing can be written any more."""
    if spot.kind is PartKind.OUTPUT:
        return Rope()
    if message.finish is not None:
        return None
    if spot.part >= len(message.parts):
        return Rope()
    match spot.kind, message.parts[spot.part]:
        case (PartKind.TEXT, Text(text)) | (PartKind.REASONING, Reasoning(text, finished_at=0)):
            return rope(text)
        case PartKind.REASONING, Text(""):
            return Rope()
        case PartKind.INPUT, ToolCall(input=text, finished=False):
            return rope(text)
        case _:
            return None


def _part(conversation: Conversation, said: PartSaid) -> Conversation:
    message = conversation.messages.get(said.message_id)
    if message is None:
        # Its beginning was missed, or is still to come; its text is not lost for that.
        message = Message(MessageId(said.message_id), SessionId(said.session_id), Role.ASSISTANT)
    parts = list(message.parts)
    _put(parts, said.index, part_from_wire(said.part))
    drafts = {
        spot: text
        for spot, text in conversation.drafts.items()
        if spot[:2] != (said.message_id, said.index) or spot.kind is PartKind.OUTPUT
    }
    changed = replace(message, parts=tuple(parts), updated_at=max(message.updated_at, said.at // 1000))
    return replace(conversation, messages={**conversation.messages, said.message_id: changed}, drafts=drafts)


def _reset(conversation: Conversation, dropped: MessageDropped) -> Conversation:
    message = conversation.messages.get(dropped.message_id)
    if message is None:
        return conversation
    messages = {**conversation.messages, dropped.message_id: replace(message, parts=())}
    return replace(conversation, messages=messages, drafts=_without(conversation, dropped.message_id))


def _message(conversation: Conversation, event_type: str, wire: WireMessage) -> Conversation:
    known = conversation.messages.get(wire.id)
    if event_type == "deleted":
        messages = {id: message for id, message in conversation.messages.items() if id != wire.id}
        return replace(conversation, messages=messages, drafts=_without(conversation, wire.id))
    message = message_from_wire(wire)
    drafts = conversation.drafts
    if event_type == "created" and known is not None:
        # Told again, or late: what was said in it since is newer.
        message = replace(message, parts=known.parts or message.parts, updated_at=known.updated_at)
    elif event_type == "updated":
        drafts = _without(conversation, wire.id)
    return replace(conversation, messages={**conversation.messages, wire.id: message}, drafts=drafts)


def _without(conversation: Conversation, message_id: str) -> Mapping[Spot, Rope]:
    return {spot: text for spot, text in conversation.drafts.items() if spot.message_id != message_id}


def _put(parts: list[Part], index: int, part: Part) -> None:
    while len(parts) < index:
        parts.append(Text(""))
    if index == len(parts):
        parts.append(part)
    else:
        parts[index] = part


def _written(parts: list[Part], spot: Spot, text: str) -> Part:
    """The part at a spot with what was written there so far."""
    before = parts[spot.part] if spot.part < len(parts) else None
    match spot.kind, before:
        case PartKind.REASONING, Reasoning():
            return replace(before, thinking=text)
        case PartKind.REASONING, _:
            return Reasoning(text)
        case PartKind.INPUT, ToolCall():
            return replace(before, input=text)
        case _:
            return Text(text)
