"""How a tool is made: from a name, the shape of its parameters, and one function.

A made tool never raises but for cancellation: parameters that do not fit, a refusal, a person's no and a failing
disk all become answers that a model can read.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Generic, TypeVar, cast

import msgspec

from turnkeeper.protocol.letters import whole
from turnkeeper.tools.tool import Answer, Call, Denied, Hands


class Refusal(Exception):
    """The call cannot be done as it was asked; the text tells the model why, and what would help."""

    def __init__(self, text: str, *, metadata: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.metadata = metadata


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """The base of a tool's parameters. A field without a default is required."""


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True)
class Made(Generic[P]):
    """A tool made from one function."""

    name: str
    takes: type[P]
    act: Callable[[P, Hands], Awaitable[Answer]]
    parallel: bool = False

    @property
    def description(self) -> str:
        return description(self.name)

    @property
    def parameters(self) -> Mapping[str, Any]:
        return schema(self.takes)

    async def use(self, call: Call, hands: Hands) -> Answer:
        try:
            return await self.act(fitted(call.input, self.takes), hands)
        except Refusal as refusal:
            return failed(str(refusal), refusal.metadata)
        except Denied as denied:
            return refused(denied)
        except (OSError, ValueError, RecursionError) as error:
            # Names that are no text and folders without end are a disk's failures too, however Python calls them.
            return failed(f"{self.name} failed: {told(error)}")


def fitted(given: Mapping[str, Any], takes: type[P]) -> P:
    """The parameters as their type; a number written as text and the like are read as what was meant."""
    try:
        return msgspec.convert(given, takes, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(f"invalid parameters: {error}") from error


def failed(text: str, metadata: Mapping[str, Any] | None = None) -> Answer:
    return Answer(content=text, is_error=True, metadata=noted(metadata))


def refused(denied: Denied, metadata: Mapping[str, Any] | None = None) -> Answer:
    """Somebody said no."""
    return Answer(content=str(denied), is_error=True, metadata=noted(metadata), stop_turn=denied.ends_turn)


def noted(metadata: Mapping[str, Any] | None) -> str:
    return msgspec.json.encode(metadata).decode() if metadata else ""


def told(error: Exception) -> str:
    """What an error says to a reader; an operating system's without its number."""
    if not isinstance(error, OSError):
        return whole(str(error)) or type(error).__name__
    what = error.strerror or str(error)
    return f"{what}: {error.filename}" if error.filename else what


@cache
def description(name: str) -> str:
    return resources.files("turnkeeper.tools").joinpath("descriptions", f"{name}.md").read_text("utf-8").strip()


@cache
def schema(takes: type[Parameters]) -> Mapping[str, Any]:
    """The JSON schema of a tool's parameters, without references, as every provider understands it."""
    (outer,), parts = msgspec.json.schema_components([takes], ref_template="{name}")
    whole = cast(dict[str, Any], inlined(outer, parts))
    return {
        "type": "object",
        "properties": whole.get("properties", {}),
        "required": whole.get("required", []),
        "additionalProperties": False,
    }


def inlined(node: Any, parts: Mapping[str, Any]) -> Any:
    match node:
        case {"$ref": str(name)}:
            return inlined(parts[name], parts)
        case dict():
            pairs = cast(dict[str, Any], node).items()
            return {key: inlined(value, parts) for key, value in pairs if key != "title"}
        case list():
            return [inlined(value, parts) for value in cast(list[Any], node)]
        case _:
            return node
