"""Every key of the conversation does what the key map says."""

import pytest

from tests.tui.chat import gallery
from tests.tui.chat.stage import reading
from tests.tui.scene import presses, until
from turnkeeper.client.view import View


def long() -> View:
    """Forty prompts with their answers: more than any screen."""
    said = [
        message
        for n in range(40)
        for message in (
            gallery.person(f"u{n}", f"Question {n}"),
            gallery.model(f"a{n}", gallery.Text(f"Answer {n}\n\n- first\n- second"), gallery.END),
        )
    ]
    return gallery.view_of(said)


@presses("chat.line-up", "chat.line-down")
async def test_lines_scroll_one_by_one_and_the_end_is_followed_again_when_it_is_reached() -> None:
    async with reading(long()) as at:
        end = at.lines
        await at.press("k", "up")
        assert not at.chat.follows
        assert end[:20] == at.lines[2:22]
        await at.press("j", "down")
        assert at.chat.follows
        assert at.lines == end


@presses("chat.page-up", "chat.page-down", "chat.half-up", "chat.half-down")
@pytest.mark.parametrize(("up", "down", "rows"), [("b", "f", 22), ("pageup", "pagedown", 22), ("u", "d", 12)])
async def test_pages_scroll_by_what_is_in_sight(up: str, down: str, rows: int) -> None:
    async with reading(long()) as at:
        end = at.lines
        await at.press(up, up)
        middle = at.lines
        await at.press(up)
        assert at.lines[rows:24] == middle[: 24 - rows]
        await at.press(down, down, down)
        assert at.lines == end
        assert at.chat.follows


@presses("chat.top", "chat.bottom")
@pytest.mark.parametrize(("top", "bottom"), [("g", "G"), ("home", "end"), ("home", "ctrl+end")])
async def test_the_beginning_and_the_end_are_a_key_away(top: str, bottom: str) -> None:
    async with reading(long()) as at:
        await at.press(top)
        assert "Question 0" in at.text
        assert not at.chat.follows
        await at.press(bottom)
        assert "Answer 39" in at.text
        assert at.chat.follows


@presses("chat.previous", "chat.next")
async def test_items_are_visited_one_by_one() -> None:
    async with reading(long()) as at:
        visited: list[str] = []
        for key in ("K", "shift+up", "K", "J", "shift+down"):
            await at.press(key)
            visited.append(at.chat.focus_key)
        assert visited == ["a39:0", "u39:0", "a38:0", "u39:0", "a39:0"]


@presses("chat.previous-prompt", "chat.next-prompt")
async def test_prompts_are_visited_one_by_one() -> None:
    async with reading(long()) as at:
        for _ in range(10):
            await at.press("left_square_bracket")
        assert at.chat.focus_key == "u30:0"
        assert "Question 30" in at.text
        await at.press("right_square_bracket")
        assert at.chat.focus_key == "u31:0"


@presses("chat.expand")
@pytest.mark.parametrize("key", ["space", "enter"])
async def test_the_item_that_has_the_focus_expands_and_folds(key: str) -> None:
    async with reading(gallery.everything(), size=(100, 60)) as at:
        await at.press("g")
        at.chat.focus_item(4)
        assert "self.field_19" not in at.text
        await at.press(key)
        assert "self.field_19" in at.text
        await at.press(key)
        assert "17 more lines" in at.text


@presses("chat.expand-all")
async def test_everything_expands_and_folds_at_once() -> None:
    async with reading(gallery.everything(), size=(100, 60)) as at:
        await at.press("g")
        folded = at.text
        await at.press("e")
        assert "The last token is lost." in at.text
        assert "self.field_19" in at.text
        await at.press("e")
        assert at.text == folded


@presses("chat.copy")
@pytest.mark.parametrize("key", ["c", "y"])
async def test_the_item_that_has_the_focus_is_copied_as_it_was_said(key: str) -> None:
    async with reading(gallery.everything()) as at:
        await at.press("g", "J", key)
        assert at.app.copied == ["The parser loses the last token.\nPlease find out why, and fix it."]


@presses("chat.copy-code")
async def test_code_blocks_are_copied_from_the_last_to_the_first() -> None:
    text = "```python\none = 1\n```\nand\n```sh\nls\n```\n"
    async with reading(gallery.view_of([gallery.model("a", gallery.Text(text))])) as at:
        await at.press("C", "Y", "C")
        assert at.app.copied == ["ls", "one = 1", "ls"]


async def test_at_the_end_it_is_the_answer_that_is_copied_and_not_what_it_took() -> None:
    async with reading(long()) as at:
        for keys in (("G", "c"), ("G", "K", "c"), ("G", "J", "c")):
            await at.press(*keys)
        answer = at.app.copied[0]
        assert (answer[:9], at.app.copied) == ("Answer 39", [answer] * 3)


async def test_where_there_is_no_code_and_no_link_that_is_said() -> None:
    async with reading(gallery.view_of([gallery.model("a", gallery.Text("Nothing of that kind."))])) as at:
        await at.press("G", "C")
        await until(at.pilot, lambda: "There is no code block in this." in at.text)
        await at.press("o")
        await until(at.pilot, lambda: "There is no link in this." in at.text)


@presses("chat.open-link")
async def test_links_are_opened_from_the_last_to_the_first() -> None:
    text = "[a](https://example.org/a), https://example.org/b and [bad](javascript:alert)"
    async with reading(gallery.view_of([gallery.model("a", gallery.Text(text))])) as at:
        await at.press("o", "o")
        assert at.app.opened == ["https://example.org/b", "https://example.org/a"]


@presses("chat.left", "chat.right")
@pytest.mark.parametrize(("right", "left"), [("L", "H"), ("shift+right", "shift+left")])
async def test_a_wide_change_is_moved_sideways(right: str, left: str) -> None:
    wide = "".join(f"<{n:03}>" for n in range(40))
    edit = gallery.call("c", "edit", file_path="/repo/a.txt", old_string="", new_string=wide)
    async with reading(gallery.view_of([gallery.model("a", edit)])) as at:
        assert "<000>" in at.text
        await at.press(right)
        assert "<000>" not in at.text
        assert "<002>" in at.text
        await at.press(left)
        assert "<000>" in at.text


@presses("chat.split")
async def test_a_change_is_shown_side_by_side_and_in_one_column() -> None:
    async with reading(gallery.everything(), size=(100, 80)) as at:
        await at.press("s")
        assert any("if letter ==" in line and "if letter.isspace" in line for line in at.text.split("\n"))
        await at.press("s")
        assert not any("if letter ==" in line and "if letter.isspace" in line for line in at.text.split("\n"))


@presses("chat.times")
async def test_times_are_shown_and_hidden() -> None:
    async with reading(gallery.view_of([gallery.person("u", "Hello")])) as at:
        await at.press("t")
        assert "Nov" in at.text
        await at.press("t")
        assert "Nov" not in at.text


@presses("chat.search", "chat.next-found", "chat.previous-found", "chat.leave")
async def test_a_word_is_searched_and_each_find_visited() -> None:
    async with reading(long()) as at:
        await at.press("slash", *"Answer", "space", *"1x", "backspace", "enter")
        assert at.chat.focus_key == "a19:0"
        assert "/Answer 1" in at.text
        await at.press("N")
        assert at.chat.focus_key == "a18:0"
        await at.press("n", "n")
        assert at.chat.focus_key == "a1:0"
        await at.press("escape")
        assert "/Answer 1" not in at.text
        assert not at.chat.follows
        await at.press("escape")
        assert at.chat.follows


async def test_a_word_that_is_folded_away_is_found_and_unfolded() -> None:
    async with reading(gallery.everything()) as at:
        await at.press("slash", *"field_19", "enter")
        assert "self.field_19 = 19" in at.text


async def test_a_search_counts_what_it_found() -> None:
    async with reading(long()) as at:
        await at.press("slash", *(("space" if one == " " else one) for one in "question 3"), "enter")
        assert "11 of 11" in at.text
        await at.press("N")
        assert "10 of 11" in at.text
        await at.press("slash", *(("space" if one == " " else one) for one in "question 17"), "enter", "n")
        assert "1 of 1" in at.text


async def test_letters_that_come_at_once_with_the_key_that_begins_a_search_are_searched() -> None:
    async with reading(long()) as at:
        for key in ("slash", *"Answer"):
            at.app.simulate_key(key)
        await at.pilot.pause()
        assert "/Answer" in at.text


async def test_what_nobody_said_is_not_found() -> None:
    async with reading(long()) as at:
        await at.press("slash", *"zebra")
        assert "nothing found" in at.text
