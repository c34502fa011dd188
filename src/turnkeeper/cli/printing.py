"""What `run` prints: the answer, what is done meanwhile, and the ending.

Text on a terminal is shown as it comes, and completed at the end. Text in a pipe or a file is the answer and nothing
else, once, when it is there: what a model says before it uses a tool is not the answer, and cannot be taken back from a
pipe. `stream-json` is for programs that want everything as it comes.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

import msgspec

from turnkeeper.cli.ending import Ending
from turnkeeper.cli.output import as_json, plain
from turnkeeper.client.news import Again, Began, Called, Ended, More, Moved, News, Used
from turnkeeper.protocol.messages import ToolCall

SUBJECT_CHARACTERS_MAX = 120
SUBJECTS = ("command", "file_path", "path", "pattern", "url", "query", "prompt", "description")


class Printer(Protocol):
    def accepted(self, run_id: str, session_id: str) -> None: ...

    def tell(self, news: News) -> None: ...

    def ended(self, ending: Ending) -> None:
        """Called exactly once, last."""
        ...


class TextPrinter:
    """Owns what stands on stdout; `live` says that somebody looks at it."""

    def __init__(self, out: TextIO, *, live: bool) -> None:
        self._out = out
        self._live = live
        self._message_id = ""
        self._shown = ""
        self._is_at_line_start = True

    def accepted(self, run_id: str, session_id: str) -> None:
        pass

    def tell(self, news: News) -> None:
        if not self._live:
            return
        match news:
            case More(message_id, text):
                if message_id != self._message_id:
                    self._next_message(message_id)
                self._show(text)
            case Again(message_id) if message_id == self._message_id:
                self._next_message(message_id)
            case Called():
                self._end_line()
            case _:
                pass

    def ended(self, ending: Ending) -> None:
        text = ending.text.lstrip(" \t")
        if ending.message_id != self._message_id or not text.startswith(self._shown):
            self._next_message(ending.message_id)
        self._write(text[len(self._shown) :])
        self._end_line()
        self._out.flush()

    def _next_message(self, message_id: str) -> None:
        """What was shown before was not the answer; the next begins on a line of its own."""
        self._end_line()
        self._message_id, self._shown = message_id, ""

    def _end_line(self) -> None:
        if not self._is_at_line_start:
            self._write("\n")
            self._out.flush()

    def _show(self, text: str) -> None:
        text = text if self._shown else text.lstrip(" \t")
        self._shown += text
        self._write(text)
        self._out.flush()

    def _write(self, text: str) -> None:
        if text:
            self._out.write(plain(text) if self._live else text)
            self._is_at_line_start = text.endswith("\n")


class JsonPrinter:
    """One object, when it is over."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def accepted(self, run_id: str, session_id: str) -> None:
        pass

    def tell(self, news: News) -> None:
        pass

    def ended(self, ending: Ending) -> None:
        self._out.write(as_json(msgspec.json.encode(ending)) + "\n")
        self._out.flush()


class StreamPrinter:
    """A line for everything that happens, as it happens; the last one is the ending."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def accepted(self, run_id: str, session_id: str) -> None:
        self._line({"type": "run.accepted", "run_id": run_id, "session_id": session_id})

    def tell(self, news: News) -> None:
        if (line := as_line(news)) is not None:
            self._line(line)

    def ended(self, ending: Ending) -> None:
        self._line(ending)

    def _line(self, value: Any) -> None:
        self._out.write(as_json(msgspec.json.encode(value)) + "\n")
        self._out.flush()


class Folder:
    """What is printed, and kept in a directory beside it: `events.jsonl`, `answer.md`, `result.json`."""

    def __init__(self, folder: Path, printer: Printer) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._printer = printer
        self._log = (folder / "events.jsonl").open("w", encoding="utf-8")
        self._lines = StreamPrinter(self._log)

    def accepted(self, run_id: str, session_id: str) -> None:
        self._lines.accepted(run_id, session_id)
        self._printer.accepted(run_id, session_id)

    def tell(self, news: News) -> None:
        self._lines.tell(news)
        self._printer.tell(news)

    def ended(self, ending: Ending) -> None:
        self._lines.ended(ending)
        self._log.close()
        write_whole(self._folder / "answer.md", ending.text)
        write_whole(self._folder / "result.json", msgspec.json.encode(ending).decode() + "\n")
        self._printer.ended(ending)


def write_whole(path: Path, text: str) -> None:
    """All of it or nothing: whoever sees the file sees the whole of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, "utf-8")
    beside.replace(path)


def as_line(news: News) -> Mapping[str, Any] | None:
    """News as a line of `stream-json`; None for what is said elsewhere."""
    match news:
        case Began(message):
            who = {"model": message.model, "provider": message.provider}
            return {"type": "message.began", "message_id": message.id, **who}
        case More(message_id, text):
            return {"type": "text", "message_id": message_id, "text": text}
        case Again(message_id):
            return {"type": "message.reset", "message_id": message_id}
        case Called(message_id, call):
            said = {"name": call.name, "input": arguments(call)}
            return {"type": "tool.call", "message_id": message_id, "tool_call_id": call.id, **said}
        case Used(result):
            said = {"name": result.name, "content": result.content, "is_error": result.is_error}
            return {"type": "tool.result", "tool_call_id": result.tool_call_id, **said}
        case Moved(state):
            return {"type": "run.started" if state == "active" else "run.stopping"}
        case Ended():
            return None


def arguments(call: ToolCall) -> Any:
    """What the tool was called with; as text where it is not the JSON it should be."""
    try:
        return msgspec.json.decode(call.input or "{}")
    except msgspec.DecodeError:
        return call.input


def subject(call: ToolCall) -> str:
    """A call on one line, as a person recognises it."""
    given = arguments(call)
    said = ""
    if isinstance(given, dict):
        named = cast("dict[str, Any]", given)
        said = next((str(named[name]) for name in SUBJECTS if named.get(name)), "")
    line = plain(" ".join(f"{call.name} {said}".split()))
    return line if len(line) <= SUBJECT_CHARACTERS_MAX else line[: SUBJECT_CHARACTERS_MAX - 1] + "…"
