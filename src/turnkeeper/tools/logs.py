"""Tool `crush_logs`: the end of this program's own log, without what is secret in it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
from anyio import to_thread
from msgspec import Meta

from turnkeeper.tools.making import Made, Parameters, Refusal
from turnkeeper.tools.tool import Answer, Hands, Tool

LINES_DEFAULT = 50
LINES_MAX = 100
LINE_BYTES_MAX = 1024 * 1024
CHUNK_BYTES = 64 * 1024
READ_BYTES_MAX = 16 * 1024 * 1024
SECRET_KEYS = ("authorization", "api-key", "api_key", "apikey", "token", "secret", "password", "credential")
OWN_KEYS = frozenset({"time", "timestamp", "level", "source", "msg", "message", "event"})
REDACTED = "[REDACTED]"


class LogsParameters(Parameters, frozen=True):
    lines: Annotated[int, Meta(description=f"How many lines (default 50, at most {LINES_MAX}).")] = 0


def logs_tool(log_file: Path) -> Tool:
    async def act(asked: LogsParameters, _hands: Hands) -> Answer:
        count = min(asked.lines if asked.lines > 0 else LINES_DEFAULT, LINES_MAX)
        return Answer(content=await to_thread.run_sync(tail, log_file, count))

    return Made("crush_logs", LogsParameters, act)


def tail(log_file: Path, count: int) -> str:
    """The last entries, the oldest of them first."""
    if not log_file.is_file():
        raise Refusal("there is no log file yet")
    if not log_file.stat().st_size:
        return "The log file is empty."
    shown: list[str] = []
    for raw in backwards(log_file):
        if len(shown) == count:
            break
        if (entry := entry_of(raw)) is not None:
            shown.append(rendered(entry))
    return "\n".join(reversed(shown)) or "The log file holds no entry that can be read."


def backwards(log_file: Path) -> Iterator[bytes]:
    """Whole lines from the end; one that is still being written, or is too long, is passed over."""
    with log_file.open("rb") as file:
        place = file.seek(0, 2)
        rest, oversized, first = b"", False, True
        read = 0
        while place > 0 and read < READ_BYTES_MAX:
            size = min(CHUNK_BYTES, place)
            place -= size
            read += size
            file.seek(place)
            pieces = (file.read(size) + rest).split(b"\n")
            rest = pieces[0]
            for piece in reversed(pieces[1:]):
                if not first and not oversized:
                    yield piece
                first = oversized = False
            if len(rest) > LINE_BYTES_MAX:
                rest, oversized = b"", True
        if place == 0 and not first and not oversized:
            yield rest


def entry_of(raw: bytes) -> Mapping[str, Any] | None:
    if not raw.strip() or len(raw) > LINE_BYTES_MAX:
        return None
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None


def rendered(entry: Mapping[str, Any]) -> str:
    when = str(entry.get("time") or entry.get("timestamp") or "")
    level = str(entry.get("level") or "INFO").upper()
    text = str(entry.get("msg") or entry.get("message") or entry.get("event") or "")
    more = [f"{key}={value_of(key, entry[key])}" for key in sorted(set(entry) - OWN_KEYS)]
    return " ".join(filter(None, [when, level, source_of(entry.get("source")), text, *more]))


def source_of(source: Any) -> str:
    if not isinstance(source, dict):
        return str(source or "")
    known = cast(Mapping[str, Any], source)
    return f"{Path(str(known.get('file', ''))).name}:{known.get('line', '')}" if known.get("file") else ""


def value_of(key: str, value: Any) -> str:
    """A value on one line, quoted where it would not be one word."""
    if is_secret_key(key):
        return REDACTED
    shown = without_secrets(value)
    text = shown if isinstance(shown, str) else msgspec.json.encode(shown).decode()
    needs_quotes = not text or any(letter in text for letter in ' "=\n\t')
    return msgspec.json.encode(text).decode() if needs_quotes else text


def without_secrets(value: Any) -> Any:
    match value:
        case dict():
            pairs = cast(dict[str, Any], value).items()
            return {key: REDACTED if is_secret_key(key) else without_secrets(inner) for key, inner in pairs}
        case list():
            return [without_secrets(inner) for inner in cast(list[Any], value)]
        case _:
            return value


def is_secret_key(key: str) -> bool:
    return any(part in key.lower() for part in SECRET_KEYS)
