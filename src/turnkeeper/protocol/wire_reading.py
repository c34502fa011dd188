"""Reading what others wrote: request bodies, and answers of a server that may not be ours.

It reads as the original reads, so that whoever could talk to that can talk to this:

- only the first JSON value counts; unknown keys are skipped; of a key that comes twice the last wins;
- keys match whatever their case, and with or without their underscores (the original itself spells some objects
  `session_id` in one place and `SessionID` in another);
- null where something is expected says nothing at all, as if the key were not there.

Whatever cannot be read raises `BadRequest`, and nothing else. Its message names the field and never shows the value,
which may be a secret.
"""

import functools
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
from msgspec import inspect

from turnkeeper.protocol.ids import ClientId
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.wire import mended

if TYPE_CHECKING:
    from json import JSONDecoder

T = TypeVar("T")
Fitter = Callable[[Any], Any]

DEPTH_MAX = 200
"""How many objects and arrays may be nested in one another."""

_INTEGER_MAX = 2**63 - 1
_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_PLACE = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)
_NAMES = {
    "str": "a string",
    "bytes": "base64 text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def decode(body: bytes, kind: type[T], *, required: bool = True) -> T:
    """What a request body says. An empty one says nothing, where that is allowed."""
    if not body.strip():
        if required:
            raise BadRequest("failed to decode request: the body is empty, expected JSON")
        return fit({}, kind)
    return fit(first_value(body), kind)


def read(body: bytes, kind: type[T]) -> T:
    """What a server answered."""
    return fit(first_value(body, what="answer"), kind, what="answer")


def first_value(body: bytes, *, what: str = "request") -> Any:
    """The first JSON value of `body`; what follows it is not looked at."""
    text = body.decode("utf-8", "replace").lstrip(" \t\r\n")
    try:
        value, _ = _json().raw_decode(text)
    except (ValueError, OverflowError, RecursionError) as error:
        raise BadRequest(f"failed to decode {what}: the body is not JSON") from error
    if text.count("{") + text.count("[") > DEPTH_MAX and is_deeper(value, DEPTH_MAX):
        raise BadRequest(f"failed to decode {what}: the body is nested more than {DEPTH_MAX} deep")
    return mended(value) if _LONE_SURROGATE.search(text) else value


def fit(value: Any, kind: type[T], *, what: str = "request") -> T:
    """`value`, already parsed, as a `kind`."""
    try:
        return msgspec.convert(_fitter(kind)(value), kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"failed to decode {what}: {_explained(str(error))}") from error


def is_deeper(value: Any, depth_max: int) -> bool:
    level = [value]
    for _ in range(depth_max):
        level = [held for outer in level for held in _held(outer)]
        if not level:
            return False
    return any(isinstance(outer, dict | list) for outer in level)


def _held(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # A key that comes again moves to the end, so that the order among different spellings of one key is kept.
    said: dict[str, Any] = {}
    for key, value in pairs:
        said.pop(key, None)
        said[key] = value
    return said


def _integer(digits: str) -> int | float:
    value = int(digits)
    return value if -_INTEGER_MAX - 1 <= value <= _INTEGER_MAX else float(value)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError("out of range")
    return value


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


@functools.cache
def _json() -> "JSONDecoder":
    # A client of our own servers hardly ever needs it.
    from json import JSONDecoder

    return JSONDecoder(
        object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant, strict=True
    )


@functools.cache
def _fitter(kind: Any) -> Fitter:
    """How a value is brought into the shape of `kind`, null included."""
    shape = inspect.type_info(kind)
    return functools.partial(_fit_one, _fitter_of(shape), _takes_null(shape), _zero(shape))


def _fit_one(fitter: Fitter, takes_null: bool, zero: Any, value: Any) -> Any:
    if value is None:
        return None if takes_null else zero
    return fitter(value)


def _fitter_of(shape: inspect.Type) -> Fitter:
    match shape:
        case inspect.StructType():
            return _struct_fitter(shape)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return functools.partial(_fit_items, _fitter_of(item), _takes_null(item), _zero(item))
        case inspect.DictType(value_type=held):
            return functools.partial(_fit_values, _fitter_of(held), _takes_null(held), _zero(held))
        case inspect.BytesType():
            return _unwrapped
        case inspect.UnionType(types=types):
            deep = [one for one in types if not isinstance(one, inspect.NoneType)]
            return _fitter_of(deep[0]) if len(deep) == 1 else _as_it_is
        case _:
            return _as_it_is


def _struct_fitter(shape: inspect.StructType) -> Fitter:
    fields = {
        _folded(field.encode_name): (field.encode_name, _takes_null(field.type), _fitter_of(field.type))
        for field in shape.fields
    }
    return functools.partial(_fit_struct, fields)


def _fit_struct(fields: dict[str, tuple[str, bool, Fitter]], value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    fitted: dict[str, Any] = {}
    for key, held in cast("dict[str, Any]", value).items():
        field = fields.get(_folded(key))
        if field is not None and (held is not None or field[1]):
            fitted[field[0]] = held if held is None else field[2](held)
    return fitted


def _fit_items(fitter: Fitter, takes_null: bool, zero: Any, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [_fit_one(fitter, takes_null, zero, held) for held in cast("list[Any]", value)]


def _fit_values(fitter: Fitter, takes_null: bool, zero: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    items = cast("dict[str, Any]", value).items()
    return {key: _fit_one(fitter, takes_null, zero, held) for key, held in items}


def _unwrapped(value: Any) -> Any:
    # Base64 may be broken into lines; the original skips the breaks.
    return value.replace("\r", "").replace("\n", "") if isinstance(value, str) else value


def _as_it_is(value: Any) -> Any:
    return value


def _folded(key: str) -> str:
    return key.replace("_", "").lower()


def _takes_null(shape: inspect.Type) -> bool:
    match shape:
        case inspect.UnionType(types=types):
            return any(_takes_null(one) for one in types)
        case inspect.NoneType() | inspect.AnyType():
            return True
        case _:
            return False


def _zero(shape: inspect.Type) -> Any:
    """What null means where a value of this shape is expected in a list, or alone."""
    match shape:
        case inspect.StructType() | inspect.DictType():
            return {}
        case inspect.ListType() | inspect.VarTupleType():
            return []
        case inspect.StrType() | inspect.BytesType():
            return ""
        case inspect.BoolType():
            return False
        case inspect.IntType() | inspect.FloatType():
            return 0
        case _:
            return None


def _explained(error: str) -> str:
    found = _PLACE.fullmatch(error)
    what, path = (found["what"], found["path"] or "$") if found else (error, "$")
    place = path.removeprefix("$").removeprefix(".") or "the body"
    if missing := re.fullmatch(r"Object missing required field `(.*)`", what):
        return f"{missing[1] if place == 'the body' else f'{place}.{missing[1]}'} is missing"
    if wrong := re.fullmatch(r"Expected `(.*)`, got `(.*)`", what):
        return f"{place} must be {_named(wrong[1])}, not {_named(wrong[2])}"
    if "base64" in what:
        return f"{place} is not standard base64"
    return f"{place} is not one of the values it may have"


def _named(kinds: str) -> str:
    """Kinds of JSON as a person calls them; null goes without saying, except alone."""
    names = [_NAMES.get(kind, kind) for kind in kinds.split(" | ") if kind != "null"]
    return " or ".join(names) or "null"


def body_client_id(text: str) -> ClientId:
    """A client's id from a body or a path, kept exactly as it was spelled."""
    if not text:
        raise BadRequest("invalid client_id")
    if problem := uuid_problem(text):
        raise BadRequest(f"invalid client_id: {problem}")
    return ClientId(text)


def query_client_id(text: str | None) -> ClientId:
    """A client's id from a query, kept exactly as it was spelled."""
    if not text:
        raise BadRequest("client_id is required")
    if uuid_problem(text):
        raise BadRequest("client_id is not a valid UUID")
    return ClientId(text)


_HEX = "[0-9a-fA-F]"
_DASHED = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_UUID_SPELLINGS = {
    32: re.compile(rf"{_HEX}{{32}}"),
    36: re.compile(_DASHED),
    38: re.compile(rf"\{{{_DASHED}\}}"),
    45: re.compile(rf"urn:uuid:{_DASHED}", re.IGNORECASE),
}


def uuid_problem(text: str) -> str:
    """Why `text` is not a UUID in one of the four spellings; empty if it is."""
    length = len(text.encode("utf-8", "replace"))
    spelling = _UUID_SPELLINGS.get(length)
    if spelling is None:
        return f"invalid UUID length: {length}"
    if spelling.fullmatch(text):
        return ""
    if length == 45 and not text.lower().startswith("urn:uuid:"):
        from json import dumps

        return f"invalid urn prefix: {dumps(text[:9])}"
    return "invalid UUID format"
