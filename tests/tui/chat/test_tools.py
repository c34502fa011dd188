"""Every tool in every state: what its heading says, what of its work is shown, and what copying it gives."""

import json

import pytest

from tests.tui.chat import gallery
from tests.tui.chat.samples import SAMPLES, Sample, used
from turnkeeper.protocol.wire_requests import QuestionRequest
from turnkeeper.tui.chat.draw import draw
from turnkeeper.tui.chat.ink import COLLAPSED_LINES, Drawn, Ink
from turnkeeper.tui.chat.items import Shell, Standing, Used
from turnkeeper.tui.chat.tools.registry import RENDERERS
from turnkeeper.tui.glyphs import ASCII, UNICODE

SIGNS = {
    Standing.PENDING: UNICODE.waiting,
    Standing.WAITING: UNICODE.warning,
    Standing.ASKING: UNICODE.warning,
    Standing.RUNNING: UNICODE.running,
    Standing.DONE: UNICODE.ok,
    Standing.FAILED: UNICODE.failed,
    Standing.DENIED: UNICODE.failed,
    Standing.CANCELLED: UNICODE.stopped,
    Standing.INTERRUPTED: UNICODE.stopped,
    Standing.UNUSED: UNICODE.waiting,
}


def drawn(item: Used, width: int = 84, **more: object) -> Drawn:
    settings: dict[str, object] = {"glyphs": UNICODE, "workdir": "/repo", "name_of": str} | more
    return draw(item, Ink(width, **settings))[0]  # type: ignore[arg-type] - whatever a test wishes for


def rows(paper: Drawn) -> list[str]:
    """What is read, without the empty line before it and the margin."""
    return [line.content.plain[2:].rstrip() for line in paper.lines[1:]]


def named(sample: Sample) -> str:
    return sample.name


def test_every_tool_with_a_renderer_has_a_sample() -> None:
    assert set(RENDERERS) <= {sample.name for sample in SAMPLES}


@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_what_a_tool_did_reads_well(sample: Sample) -> None:
    assert tuple(rows(drawn(used(sample, Standing.DONE)))) == sample.reads


@pytest.mark.parametrize("standing", Standing)
@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_every_state_has_a_sign_and_a_word_beside_what_the_tool_was_used_on(sample: Sample, standing: Standing) -> None:
    heading = rows(drawn(used(sample, standing)))[0]
    assert heading.startswith(f"{SIGNS[standing]} {sample.title}")
    assert heading.endswith(f"· {standing.value}") == (standing is not Standing.DONE)


@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_what_went_wrong_is_told_in_the_tools_own_words(sample: Sample) -> None:
    assert "  it broke" in rows(drawn(used(sample, Standing.FAILED)))
    assert "  too early" in rows(drawn(used(sample, Standing.DENIED)))
    for standing in (Standing.CANCELLED, Standing.INTERRUPTED, Standing.UNUSED):
        assert not any("rror" in row or "The turn" in row for row in rows(drawn(used(sample, standing))))


@pytest.mark.parametrize("standing", Standing)
@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_to_a_screen_reader_signs_are_words(sample: Sample, standing: Standing) -> None:
    read = rows(drawn(used(sample, standing), glyphs=ASCII, plain=True))
    assert read[0].startswith(f"Tool {sample.title.split(' ')[0]}")
    assert f", {standing.value}: " in read[0] + " "
    assert not any(sign in "\n".join(read) for sign in (UNICODE.ok, UNICODE.corner, UNICODE.bar, UNICODE.running))


@pytest.mark.parametrize("width", [20, 33, 60, 200])
@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_no_line_is_wider_than_its_room(sample: Sample, width: int) -> None:
    for standing in Standing:
        for line in drawn(used(sample, standing), width).lines:
            assert line.content.cell_length <= max(width, 20)


@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_a_call_that_is_still_being_written_shows_what_can_be_read_of_it(sample: Sample) -> None:
    given = json.dumps(sample.given)
    for end in range(len(given)):
        half = Used("m:0", "c", sample.name, given[:end], Standing.PENDING)
        assert rows(drawn(half))[0].startswith(UNICODE.waiting)


def bash(output: str, *, standing: Standing = Standing.DONE, content: str = "", **told: object) -> Used:
    metadata = json.dumps({"output": output, **told})
    given = json.dumps({"command": "make", "description": ""})
    return Used("m:0", "c", "bash", given, standing, content=content or output, metadata=metadata)


def test_a_running_command_shows_the_end_of_what_it_says() -> None:
    running = Used(
        "m:0", "c", "bash", '{"command": "make"}', Standing.RUNNING, output="".join(f"{n}\n" for n in range(99))
    )
    read = rows(drawn(running))
    assert read[0] == "● Bash make · running"
    assert read[1:] == ["  … 89 earlier lines (space expands)", *(f"  {n}" for n in range(89, 99))]


def test_a_command_that_failed_shows_its_exit_its_time_and_the_advice() -> None:
    said = "no\nExit code 2\nHint: try again\n\n<cwd>/repo</cwd>"
    read = rows(drawn(bash("no\n", content=said, start_time=1_000, end_time=66_000)))
    assert read == ["× Bash make · exit 2 · 1m05s", "  no", "  Hint: try again"]


def test_a_command_that_goes_on_in_the_background_says_where() -> None:
    assert "in the background as 004" in rows(drawn(bash("", background=True, shell_id="004")))[0]


def test_a_long_body_is_folded_to_ten_lines_and_expands() -> None:
    text = "\n".join(f"{n:6d}|line {n}" for n in range(1, 41))
    view = Used("m:0", "c", "view", '{"file_path": "/repo/a"}', Standing.DONE, text, json.dumps({"content": "\n" * 39}))
    folded, whole = drawn(view), drawn(view, expanded=True)
    assert rows(folded)[-1] == "  … 30 more lines (space expands)"
    assert (len(rows(folded)), len(rows(whole))) == (1 + COLLAPSED_LINES + 1, 1 + 40)
    assert folded.expandable
    assert whole.expandable


def test_a_change_stands_side_by_side_where_there_is_room() -> None:
    edit = used(next(sample for sample in SAMPLES if sample.name == "edit"), Standing.DONE)
    wide = rows(drawn(edit, 140))
    assert any("if letter ==" in row and "if letter.isspace()" in row for row in wide)
    assert not any("if letter ==" in row and "if letter.isspace()" in row for row in rows(drawn(edit, 110)))
    assert rows(drawn(edit, 140, split=False)) == rows(drawn(edit, 110))


def test_what_differs_within_a_changed_line_is_marked() -> None:
    edit = used(next(sample for sample in SAMPLES if sample.name == "edit"), Standing.DONE)
    marked = {
        line.content.plain[span.start : span.end]: (line.fill, span.style)
        for line in drawn(edit).lines
        for span in line.content.spans
        if span.style in ("added-word", "removed-word")
    }
    assert marked == {' == " "': ("removed", "removed-word"), ".isspace()": ("added", "added-word")}


def test_a_change_that_waits_for_permission_is_shown_before_it_is_made() -> None:
    edit = gallery.call("c", "edit", file_path="/repo/a.txt", old_string="one\ntwo", new_string="one\nthree")
    waiting = Used("m:0", "c", "edit", edit.input, Standing.WAITING)
    assert rows(drawn(waiting)) == [
        "▲ Edit a.txt · +1 -1 · waiting for permission",
        "  1   one",
        "  2 - two",
        "  2 + three",
    ]


def test_what_hooks_said_to_a_call_stands_below_its_heading() -> None:
    before = {"hook_count": 1, "decision": "allow", "input_rewrite": True, "reason": "tidied"}
    after = {"hook_count": 1, "decision": "none", "halt": True}
    assert rows(drawn(bash("ok", hook=before, hook_after=after))) == [
        "✓ Bash make",
        "  hook: allowed it, changed what it was given (tidied)",
        "  hook afterwards: ended the turn",
        "  ok",
    ]


def test_a_no_says_whose_it_was() -> None:
    denied = Used(
        "m:0", "c", "bash", '{"command": "rm"}', Standing.DENIED, "User denied permission", is_error=True, by="anna"
    )
    assert rows(drawn(denied)) == ["× Bash rm · denied by anna"]


def test_questions_are_shown_while_they_wait_for_an_answer() -> None:
    given = json.dumps({"questions": [{"type": "yes_no", "question": "Go on?"}]})
    asking = Used("m:0", "c", "question", given, Standing.ASKING, questions=QuestionRequest("q"))
    assert rows(drawn(asking)) == ["▲ Question · waiting for an answer", "  Q  Go on?"]


def test_what_a_tool_says_cannot_do_anything_to_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\r\n\u202eback\x9b31m\x00"
    for name in (*RENDERERS, "unknown\x1b[2J"):
        item = Used("m:0", "c", name, json.dumps({"command": evil, "prompt": evil, "path": evil}), Standing.DONE, evil)
        text = "\n".join(rows(drawn(item)))
        assert all(char.isprintable() or char == "\n" for char in text)


def test_a_command_of_ones_own_keeps_its_colours_and_nothing_else_it_asked_for() -> None:
    output = "\x1b[32mgreen\x1b[0m\tplain\x1b[2J\n\x1b[1;31mred\nstill\x1b[0m\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\n"
    drawing = draw(Shell("k", "ls", output, 0, "me", 0), Ink(80, UNICODE))[0]
    assert rows(drawing) == ["! ls me", "  green    plain", "  red", "  stilllink"]
    spans = [[str(span.style) for span in line.content.spans] for line in drawing.lines[2:]]
    assert [bool(line) for line in spans] == [True, True, True]
    assert "link" not in str(spans)
    assert drawing.text == "$ ls\ngreen   plain\nred\nstilllink"


def test_copying_a_tools_use_gives_all_of_it_and_not_what_is_in_sight() -> None:
    item = bash("".join(f"{n}\n" for n in range(99)))
    assert drawn(item).text == "Bash make\n" + "".join(f"{n}\n" for n in range(99))


def test_of_a_line_that_is_drawn_anew_only_the_last_state_is_shown() -> None:
    said = "one\r\n\x1b[32m 10%\r\x1b[32m 100%\x1b[0m\r\ntwo\r"
    running = Used("m:0", "c", "bash", '{"command": "make"}', Standing.RUNNING, output=said)
    assert rows(drawn(running))[1:] == ["  one", "   100%", "  two"]
