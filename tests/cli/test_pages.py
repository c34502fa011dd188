"""The pages about the command line and the settings say what is so: codes, keys, commands, knobs and examples."""

import re
from pathlib import Path

import msgspec
import pytest

from turnkeeper.cli.ending import Ending, Spent
from turnkeeper.cli.exits import Exit
from turnkeeper.cli.frame import COMMANDS
from turnkeeper.cli.printing import as_line
from turnkeeper.client.news import Again, Began, Called, More, Moved, News, Used
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Role, ToolCall, ToolResult
from turnkeeper.protocol.runs import Cause, Outcome, RunState
from turnkeeper.settings.checking import check
from turnkeeper.settings.environment import GROUPS
from turnkeeper.settings.files import PROJECT_FILES
from turnkeeper.settings.reading import parse
from turnkeeper.settings.settings import Shell
from turnkeeper.settings.trust import WHOLE_TABLES

DOCS = Path(__file__).parent.parent.parent / "docs"
COMMAND_LINE = (DOCS / "command-line.md").read_text("utf-8")
CONFIGURATION = (DOCS / "configuration.md").read_text("utf-8")


def section(page: str, heading: str) -> str:
    """What stands between a heading and the next one."""
    return re.split(r"^#+ .*$", page.partition(f"\n{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def first_column(text: str) -> list[str]:
    """The first cell of every row of a table, without its heading."""
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")][2:]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_every_exit_code_stands_in_the_table_and_no_other() -> None:
    codes = [int(code) for cell in first_column(section(COMMAND_LINE, "### Exit codes")) for code in cell.split(", ")]
    assert codes == [*(int(one) for one in Exit), 130, 143]


def test_the_ending_has_the_keys_that_are_promised_in_their_order() -> None:
    table = section(COMMAND_LINE, "### Output for programs")
    keys = [name for cell in first_column(table) for name in quoted(cell)]
    assert keys == list(msgspec.to_builtins(Ending("", "", "", 0)))
    said = quoted(table)
    assert {one.value for one in Outcome} | {"refused", "lost", "detached", "queued", "active"} <= set(said)
    assert {one.value for one in Cause} <= set(said)
    assert set(Spent.__struct_fields__) <= set(said)


def test_every_line_of_the_stream_has_a_type_that_is_told() -> None:
    message = Message(MessageId("m"), SessionId("s"), Role.ASSISTANT)
    news: list[News] = [
        Began(message),
        More("m", "text"),
        Again("m"),
        Called("m", ToolCall(ToolCallId("c"), "ls", "{}")),
        Used(ToolResult(ToolCallId("c"), "ls", "a.txt")),
        Moved(RunState.ACTIVE),
        Moved(RunState.STOPPING),
    ]
    types = {str(line["type"]) for one in news if (line := as_line(one)) is not None}
    assert types | {"run.accepted"} <= set(quoted(section(COMMAND_LINE, "### Output for programs")))


def test_every_command_is_told_of_and_no_other() -> None:
    table = COMMAND_LINE.partition("| command | does |")[2].partition("\n\n")[0]
    told = {name for cell in first_column("| command | does |" + table) for name in quoted(cell)}
    assert told == {command.name for command in COMMANDS}


@pytest.mark.parametrize(("name", "kind"), [*GROUPS.items(), ("shell", Shell)])
def test_every_knob_stands_in_its_table_with_its_default(name: str, kind: type[msgspec.Struct]) -> None:
    heading = next(line for line in CONFIGURATION.splitlines() if line.startswith(f"### `{name}`"))
    rows = [line.split("|")[1:3] for line in section(CONFIGURATION, heading).splitlines() if line.startswith("| `")]
    told = {key.strip(" `"): default.strip(" `") for key, default in rows}
    so = {field.name: default(field) for field in msgspec.structs.fields(kind)}
    assert told == so


def default(field: msgspec.structs.FieldInfo) -> str:
    match field.default:
        case tuple():
            return "[]"
        case bool() | str() as value:
            return msgspec.json.encode(value).decode()
        case value:
            return str(value)


@pytest.mark.parametrize("text", re.findall(r"^```toml\n(.*?)^```$", CONFIGURATION, re.DOTALL | re.MULTILINE))
def test_every_example_is_understood_without_a_word(text: str) -> None:
    assert check(parse("example.toml", text))[1] == []


def test_the_files_of_a_project_and_what_waits_for_trust_are_told() -> None:
    assert set(PROJECT_FILES) <= set(quoted(section(CONFIGURATION, "## Files, the strongest last")))
    assert set(WHOLE_TABLES) <= set(quoted(section(CONFIGURATION, "## Trust")))
