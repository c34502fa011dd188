"""What a model says in letters that can be kept: a letter that was cut apart between two chunks is put together."""

from msgspec.structs import replace

from turnkeeper.models.model import (
    Chunk,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
)
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.letters import ends_in_half, whole


class Letters:
    """Owns the half of a letter that came last, until its other half comes."""

    def __init__(self) -> None:
        self._half: TextSaid | ReasoningSaid | None = None

    def heard(self, chunk: Chunk) -> Chunk:
        match chunk:
            case TextSaid(text) | ReasoningSaid(text) if self._half is None and text.isascii():
                return chunk
            case TextSaid() | ReasoningSaid():
                return self._joined(chunk)
            case ReasoningDone(signature, provider_data):
                return ReasoningDone(whole(signature), whole(provider_data))
            case ToolCallBegun(id, name):
                return ToolCallBegun(ToolCallId(whole(id)), whole(name))
            case ToolInputSaid(id, text):
                return ToolInputSaid(ToolCallId(whole(id)), whole(text))
            case ToolCallDone(id, name, input, provider_data):
                return replace(
                    chunk,
                    id=ToolCallId(whole(id)),
                    name=whole(name),
                    input=whole(input),
                    provider_data=whole(provider_data),
                )
            case _:
                return chunk

    def _joined(self, chunk: TextSaid | ReasoningSaid) -> Chunk:
        before = self._half.text if self._half is not None and type(self._half) is type(chunk) else ""
        text, self._half = before + chunk.text, None
        if ends_in_half(text):
            text, self._half = text[:-1], replace(chunk, text=text[-1])
        return replace(chunk, text=whole(text))
