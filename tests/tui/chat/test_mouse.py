"""The mouse: the wheel scrolls, a click expands, and what is dragged over is copied."""

from typing import Any

from textual import events

from tests.tui.chat import gallery
from tests.tui.chat.stage import At, reading
from tests.tui.chat.test_window import answers
from turnkeeper.protocol.messages import Text
from turnkeeper.tui.chat.transcript import Transcript


def row_of(at: At, text: str) -> int:
    return next(y for y, line in enumerate(at.lines) if text in line)


async def wheel(at: At, event: type[Any], times: int) -> None:
    for _ in range(times):
        await at.pilot._post_mouse_events([event], Transcript, offset=(5, 5), button=0)
    await at.pilot.pause()


async def test_the_wheel_scrolls_three_lines_and_back_to_the_end() -> None:
    async with reading(gallery.view_of(answers(20)), size=(60, 20)) as at:
        end = at.lines
        await wheel(at, events.MouseScrollUp, 2)
        assert at.lines[6:] == end[:-6]
        await wheel(at, events.MouseScrollDown, 2)
        assert at.lines == end
        assert at.chat.follows


async def test_a_click_on_a_heading_or_on_what_says_that_there_is_more_expands() -> None:
    async with reading(gallery.everything(), size=(100, 50)) as at:
        await at.press("g")
        await at.pilot.click(Transcript, offset=(10, row_of(at, "View src/parser.py")))
        assert "self.field_19" in at.text
        await at.pilot.click(Transcript, offset=(10, row_of(at, "View src/parser.py")))
        assert "self.field_19" not in at.text
        await at.pilot.click(Transcript, offset=(10, row_of(at, "17 more lines")))
        assert "self.field_19" in at.text


async def test_a_click_elsewhere_only_gives_the_focus() -> None:
    async with reading(gallery.everything(), size=(100, 50)) as at:
        await at.press("g")
        before = at.lines
        await at.pilot.click(Transcript, offset=(10, row_of(at, "I'll look at")))
        assert at.chat.focus_key == "a1:1"
        assert [line[2:] for line in at.lines] == [line[2:] for line in before]


async def test_what_is_dragged_over_is_copied_without_margins() -> None:
    text = "first line here\n\nsecond line here\n\nthird line here"
    async with reading(gallery.view_of([gallery.model("a", Text(text))]), size=(60, 20)) as at:
        await at.pilot.mouse_down(Transcript, offset=(8, row_of(at, "first")))
        await at.pilot.hover(Transcript, offset=(8, row_of(at, "second")))
        await at.pilot.mouse_up(Transcript, offset=(8, row_of(at, "second")))
        await at.pilot.pause()
        assert at.app.copied == ["line here\n\nsecond"]


async def test_code_and_sentences_that_were_broken_to_fit_are_copied_as_they_were_written() -> None:
    code = "def wide(first, second):\n    return first_of_all(first) + second_of_all(second) + 1\n\nprint(wide(1, 2))"
    said = (
        f"A sentence that is much too long for a row of so few cells.\n\n- one\n- two\n\n```python\n{code}\n```\n\nEnd."
    )
    async with reading(gallery.view_of([gallery.model("a", Text(said))]), size=(40, 30)) as at:
        await at.pilot.mouse_down(Transcript, offset=(2, row_of(at, "A sentence")))
        await at.pilot.hover(Transcript, offset=(5, row_of(at, "End.")))
        await at.pilot.mouse_up(Transcript, offset=(5, row_of(at, "End.")))
        await at.pilot.pause()
        shown = said.replace("- ", "• ").replace("```python\n", "").replace("\n```", "")
        assert at.app.copied == [shown]


async def test_what_is_dragged_over_several_items_in_the_midst_of_it_all_is_copied() -> None:
    async with reading(gallery.view_of(answers(20)), size=(60, 20)) as at:
        await at.press("b", "b")
        first = row_of(at, "Question")
        await at.pilot.mouse_down(Transcript, offset=(4, first))
        await at.pilot.hover(Transcript, offset=(7, first + 2))
        await at.pilot.mouse_up(Transcript, offset=(7, first + 2))
        await at.pilot.pause()
        question = at.lines[first].strip(" ▌")
        assert at.app.copied == [f"{question}\n\na   │"]


async def test_two_clicks_take_a_word_and_three_a_line() -> None:
    async with reading(gallery.view_of([gallery.model("a", Text("see src/parser.py there"))])) as at:
        place = (12, row_of(at, "parser"))
        await at.pilot.double_click(Transcript, offset=place)
        assert at.app.copied[-1] == "src/parser.py"
        await at.pilot.triple_click(Transcript, offset=place)
        assert at.app.copied[-1].strip() == "see src/parser.py there"


async def test_what_is_selected_stays_selected_when_more_is_said() -> None:
    said = answers(20)
    async with reading(gallery.view_of(said), size=(60, 20)) as at:
        await at.press("b")
        row = row_of(at, "Question")
        await at.pilot.double_click(Transcript, offset=(6, row))
        await at.become(gallery.view_of([*said, gallery.person("new", "More")]))
        await at.press("c")
        assert at.app.copied[-1] == "Question"
