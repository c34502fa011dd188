"""crush_info and crush_logs: what the program says of itself, without its secrets."""

from pathlib import Path

import msgspec
import pytest

from tests.tools.scene import use
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools.info import SECTIONS, Facts, info_tool
from turnkeeper.tools.logs import LINE_BYTES_MAX, logs_tool
from turnkeeper.tools.tool import Answer


async def info(facts: Facts) -> str:
    return (await use(info_tool(lambda: facts), FakeHands(Path("/")))).content


async def test_sections_come_in_one_order_and_empty_ones_are_left_out() -> None:
    facts: Facts = {"tools": [("bash", "")], "hooks": [], "more": [("a", "b")], "model": [("large", "m/one")]}
    assert await info(facts) == "[model]\nlarge = m/one\n\n[tools]\nbash\n\n[more]\na = b"
    assert await info(dict(reversed(facts.items()))) == await info(facts)
    assert await info({}) == ""


async def test_every_section_is_shown() -> None:
    text = await info({name: [("key", "value")] for name in reversed(SECTIONS)})
    assert [line[1:-1] for line in text.splitlines() if line.startswith("[")] == list(SECTIONS)


async def test_no_secret_is_told_and_no_value_can_begin_a_section() -> None:
    facts: Facts = {"providers": [("api_key", "sk-1"), ("Authorization", "Bearer x"), ("url", "http://a\n[model]")]}
    assert await info(facts) == "[providers]\napi_key = [hidden]\nAuthorization = [hidden]\nurl = http://a [model]"


def entry(number: int, **more: object) -> bytes:
    return msgspec.json.encode({"time": f"T{number:04}", "level": "info", "msg": f"entry {number}", **more}) + b"\n"


async def logs(folder: Path, data: bytes, lines: int = 0) -> Answer:
    (folder / "log").write_bytes(data)
    return await use(logs_tool(folder / "log"), FakeHands(folder), lines=lines)


@pytest.mark.parametrize(("lines", "shown"), [(0, 50), (-1, 50), (7, 7), (100, 100), (500, 100)])
async def test_the_newest_entries_are_shown_oldest_first(tmp_path: Path, lines: int, shown: int) -> None:
    answer = await logs(tmp_path, b"".join(entry(number) for number in range(3000)), lines)
    assert answer.content.splitlines() == [f"T{n:04} INFO entry {n}" for n in range(3000 - shown, 3000)]


async def test_fields_are_sorted_quoted_and_their_source_is_short(tmp_path: Path) -> None:
    data = entry(1, zeta="two words", alpha=1, empty="", list=[1, "x"], source={"file": "/a/b/run.py", "line": 7})
    assert (await logs(tmp_path, data)).content == (
        'T0001 INFO run.py:7 entry 1 alpha=1 empty="" list="[1,\\"x\\"]" zeta="two words"'
    )


async def test_values_that_are_secret_are_not_shown_at_any_depth(tmp_path: Path) -> None:
    keys = ["Authorization", "x-api-key", "api_key", "apikey", "access_token", "clientSecret", "password", "credential"]
    flat = await logs(tmp_path, entry(1, **dict.fromkeys(keys, "sesame")))
    deep = await logs(tmp_path, entry(1, headers={"authorization": "sesame", "list": [{"token": "sesame"}]}))
    assert "sesame" not in flat.content + deep.content
    assert flat.content.count("[REDACTED]") == len(keys)


async def test_lines_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    huge = entry(2, text="x" * (LINE_BYTES_MAX + 1))
    data = entry(1) + b"not json\n[1]\n\n" + huge + entry(3) + entry(4)[:-9]
    assert (await logs(tmp_path, data)).content == "T0001 INFO entry 1\nT0003 INFO entry 3"


async def test_a_missing_and_an_empty_log_are_told_apart(tmp_path: Path) -> None:
    missing = await use(logs_tool(tmp_path / "none"), FakeHands(tmp_path))
    assert missing.is_error
    assert "no log file" in missing.content
    assert "is empty" in (await logs(tmp_path, b"")).content
    assert "no entry" in (await logs(tmp_path, b"nonsense\n")).content
