"""What a model meant by the text of a call: parse it, mend what is commonly broken, and check it coarsely.

Nothing here raises. Either there is an object, with a note of every repair, or there is a sentence that tells the
model what is wrong. A repair is tried only on text that is no JSON, and a string is never changed where a string
is wanted, so that a call which was right is passed on untouched.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
import pyjson5

RAW_BYTES_MAX = 8 * 1024 * 1024
SHOWN_CHARACTERS_MAX = 200
# One that never ends goes on to the end of the text: without that, each quote in it would be tried as a beginning.
DOUBLE_QUOTED = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
SINGLE_QUOTED = r"'(?:[^'\\]++|\\.)*+(?:'|\\?\Z)"


class Arguments(msgspec.Struct, frozen=True):
    """An object that fits the schema, and which repairs it took."""

    input: dict[str, Any]
    repairs: tuple[str, ...] = ()


class Unreadable(msgspec.Struct, frozen=True):
    """The call cannot be made; `problem` is for the model."""

    problem: str


def read_arguments(raw: str, schema: Mapping[str, Any]) -> Arguments | Unreadable:
    """The input of a call as an object whose required keys are there and whose values have the right kind."""
    if len(raw) > RAW_BYTES_MAX:
        return Unreadable(f"invalid parameters: the call is longer than {RAW_BYTES_MAX} bytes")
    found, repairs = parsed(raw)
    if isinstance(found, str):
        found, inner = parsed(found)
        repairs = (*repairs, "it was encoded twice", *inner)
    if not isinstance(found, dict):
        shown = raw[:SHOWN_CHARACTERS_MAX]
        return Unreadable(f"invalid parameters: this is not a JSON object: {shown!r}. Send one object of parameters.")
    given, mended = coerced(cast(dict[str, Any], found), schema)
    if problems := misfits(given, schema):
        return Unreadable(f"invalid parameters: {'; '.join(problems)}")
    return Arguments(given, (*repairs, *mended))


def parsed(raw: str) -> tuple[Any, tuple[str, ...]]:
    """The value that the text spells, or None."""
    text = raw.strip().removeprefix("\ufeff")
    if not text:
        return {}, ()
    for repair, attempt in (("", text), ("", unfenced(text)), ("it was cut off", closed(unfenced(text)))):
        for note, reading in (("", strict), ("it was no strict JSON", lenient)):
            value = reading(attempt)
            if value is not None:
                return value, tuple(filter(None, (repair, note)))
    return None, ()


def strict(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def lenient(text: str) -> Any:
    """Trailing commas, single quotes, bare keys, comments, raw newlines, and Python's own constants."""
    for attempt in (text, escaped_controls(text), pythonic(text)):
        try:
            return pyjson5.decode(attempt)
        except (pyjson5.Json5Exception, ValueError, UnicodeError, RecursionError):
            continue
    return None


def unfenced(text: str) -> str:
    """Without a Markdown fence around it."""
    if len(text) < 6 or not (text.startswith("```") and text.endswith("```")):
        return text
    return re.sub(r"\A\w*", "", text[3:-3]).strip()


def escaped_controls(text: str) -> str:
    """Line breaks and tabs within strings, written as escapes."""
    return re.sub(
        rf"{DOUBLE_QUOTED}",
        lambda found: found[0].replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t"),
        text,
        flags=re.DOTALL,
    )


def pythonic(text: str) -> str:
    """Python's True, False and None outside of strings, as JSON spells them."""
    names = {"True": "true", "False": "false", "None": "null"}
    return re.sub(
        rf"({DOUBLE_QUOTED}|{SINGLE_QUOTED})|\b(True|False|None)\b",
        lambda found: found[1] or names[found[2]],
        text,
        flags=re.DOTALL,
    )


def closed(text: str) -> str:
    """What was opened, closed again: for a call whose end never arrived."""
    closers: list[str] = []
    quote, escaped = "", False
    for letter in text:
        if quote:
            quote = "" if letter == quote and not escaped else quote
            escaped = letter == "\\" and not escaped
        elif letter in "\"'":
            quote, escaped = letter, False
        elif letter in "{[":
            closers.append("}" if letter == "{" else "]")
        elif letter in "}]" and closers:
            closers.pop()
    if quote and escaped:
        text = text[:-1]
    body = (text + quote).rstrip()
    body = re.sub(r",$", "", body) if not quote else body
    body = body + " null" if body.endswith(":") else body
    return body + "".join(reversed(closers))


def coerced(given: dict[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A list or object that came as text, a single value where a list is wanted, a number in quotes."""
    result: dict[str, Any] = {}
    notes: list[str] = []
    properties = cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {}))
    for key, value in given.items():
        wanted = kinds(properties.get(key, {}))
        meant = value if fits(value, wanted) else reading_of(value, wanted, properties.get(key, {}))
        if meant is not value:
            notes.append(f"{key} was read as {'/'.join(wanted)}")
        result[key] = meant
    return result, tuple(notes)


def reading_of(value: Any, wanted: Sequence[str], schema: Mapping[str, Any]) -> Any:
    inner: Any = parsed(value)[0] if isinstance(value, str) else None
    if isinstance(value, str) and fits(inner, wanted) and inner is not None:
        return inner
    if isinstance(value, float) and value.is_integer() and "integer" in wanted:
        return int(value)
    if isinstance(value, str) and value.lower() in ("true", "false") and "boolean" in wanted:
        return value.lower() == "true"
    if "array" in wanted and fits(value, kinds(cast(Mapping[str, Any], schema.get("items", {})))):
        return [value]
    return value


KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def kinds(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Which kinds of value a schema admits; none named means any."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    if isinstance(named, list):
        return tuple(cast(list[str], named))
    options = cast(Sequence[Mapping[str, Any]], schema.get("anyOf") or schema.get("oneOf") or ())
    return tuple(kind for option in options for kind in kinds(option))


def fits(value: Any, wanted: Sequence[str]) -> bool:
    if not wanted:
        return True
    if isinstance(value, bool):
        return "boolean" in wanted
    return any(isinstance(value, KINDS.get(kind, object)) for kind in wanted)


def misfits(given: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """What is missing or of the wrong kind, each with the key it is about."""
    properties = cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {}))
    missing = [f"{key} is required" for key in cast(Sequence[str], schema.get("required", ())) if key not in given]
    wrong = [
        f"{key} must be {' or '.join(wanted)}"
        for key, value in given.items()
        if not fits(value, wanted := kinds(properties.get(key, {})))
    ]
    return missing + wrong
