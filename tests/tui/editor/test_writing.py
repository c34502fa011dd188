"""Every key that moves, marks, deletes and takes back. `|` is the cursor, `[…]` what is marked."""

from tests.tui.editor.scene import At, editor
from tests.tui.scene import presses
from turnkeeper.tui.editor.composer import Composer
from turnkeeper.tui.editor.keys import WRITING_KEYS

SCENES = {
    "cursor-left": ("on|e", "o|ne"),
    "cursor-right": ("o|ne", "on|e"),
    "cursor-up": ("one\ntw|o", "on|e\ntwo"),
    "cursor-down": ("on|e\ntwo", "one\ntw|o"),
    "cursor-word-left": ("one two|", "one |two"),
    "cursor-word-right": ("|one two", "one| two"),
    "cursor-line-start": ("one\ntw|o", "one\n|two"),
    "cursor-line-end": ("o|ne\ntwo", "one|\ntwo"),
    "cursor-page-up": ("\n" * 20 + "x|", "\n" * 5 + "|" + "\n" * 15 + "x"),
    "cursor-page-down": ("|x\n\n", "x\n\n|"),
    "text-start": ("one\ntw|o", "|one\ntwo"),
    "text-end": ("o|ne\ntwo", "one\ntwo|"),
    "select-left": ("on|e", "o[n]e"),
    "select-right": ("o|ne", "o[n]e"),
    "select-up": ("one\ntw|o", "on[e\ntw]o"),
    "select-down": ("on|e\ntwo", "on[e\ntw]o"),
    "select-word-left": ("one two|", "one [two]"),
    "select-word-right": ("|one two", "[one] two"),
    "select-line-start": ("on|e", "[on]e"),
    "select-line-end": ("o|ne", "o[ne]"),
    "select-all": ("o|ne\ntwo", "[one\ntwo]"),
    "delete-left": ("on|e", "o|e"),
    "delete-right": ("o|ne", "o|e"),
    "delete-word-left": ("one two|", "one |"),
    "delete-word-right": ("|one two", "| two"),
    "delete-to-start-of-line": ("a\non|e", "a\n|e"),
    "delete-to-end-of-line": ("o|ne\nb", "o|\nb"),
    "cut": ("one\ntw|o", "one\n|"),
}
KEYS = {key.id.partition(".")[2]: key for key in WRITING_KEYS}


def shown(at: At) -> str:
    begins, ends = sorted(at.area.selection)
    if begins == ends:
        return at.text
    lines = at.area.text.split("\n")
    first, last = (sum(len(line) + 1 for line in lines[:row]) + column for row, column in (begins, ends))
    return f"{at.area.text[:first]}[{at.area.text[first:last]}]{at.area.text[last:]}"


@presses(*(f"writing.{name}" for name in SCENES))
async def test_each_key_of_writing_does_what_it_says() -> None:
    async with editor() as at:
        for name, (before, after) in SCENES.items():
            for key in KEYS[name].keys.split(","):
                at.area.load_text("")
                at.area.put(before.replace("|", ""), at=before.index("|"))
                await at.press(key)
                assert (key, shown(at)) == (key, after)


async def test_keys_that_come_together_with_letters_do_what_they_do_one_after_another() -> None:
    async with editor() as at:
        for name, (before, _) in SCENES.items():
            for key in KEYS[name].keys.split(","):
                results: list[str] = []
                for come in (at.together, at.press):
                    at.area.load_text("")
                    at.area.put(before.replace("|", ""), at=before.index("|"))
                    await at.pilot.pause()
                    await come("x", key, "y", key, "z")
                    results.append(shown(at))
                assert (key, results[0]) == (key, results[1])


async def test_a_new_line_and_what_is_sent_are_where_they_were_pressed() -> None:
    async with editor() as at:
        await at.together("a", "ctrl+j", "b", "enter", "c", "up", "x", "enter", "!", "d", "enter", "e")
        assert at.app.told == [Composer.Sent("a\nb"), Composer.Sent("xa\nb"), Composer.Shell("d")]
        assert at.text == "e|"


async def test_a_command_is_chosen_from_what_is_offered_for_all_that_was_written_before_the_key() -> None:
    async with editor() as at:
        await at.together(*"/hel", "enter", *"hi")
        assert (at.app.told, at.text) == ([Composer.Wanted("help")], "hi|")


async def test_vis_keys_are_obeyed_in_the_order_in_which_they_are_pressed() -> None:
    async with editor() as at:
        at.composer.vi = True
        await at.together(*"ab", "escape", "i", "left", "x", "backspace", "y", "escape", "0", "x", "A", "z")
        assert at.text == "abz|"


async def test_in_vi_a_letter_that_comes_soon_after_esc_is_a_command() -> None:
    async with editor() as at:
        at.composer.vi = True
        await at.raw("one two\x1bh\x1bx")
        assert at.text == "one t|o"


async def test_keys_that_somebody_moved_are_obeyed_in_their_order_too() -> None:
    async with editor() as at:
        at.app.set_keymap({"writing.delete-left": "f5", "editor.send": "f6"})
        await at.together("a", "x", "f5", "b", "backspace", "f6", "c", "f5", "d")
        assert (await at.told(), at.text) == (Composer.Sent("ab"), "d|")


@presses("writing.undo", "writing.redo")
async def test_what_was_written_is_taken_back_and_written_again() -> None:
    async with editor() as at:
        await at.type("one")
        await at.press("ctrl+j")
        await at.type("two")
        await at.press("ctrl+underscore")
        assert at.text == "one\n|"
        await at.press("alt+z")
        assert at.text == "one|"
        await at.press("alt+y")
        assert at.text == "one\n|"


@presses("writing.copy")
async def test_what_is_marked_is_copied() -> None:
    async with editor() as at:
        await at.type("one")
        await at.press("shift+left", "shift+left", "alt+w")
        assert at.app.clipboard == "ne"


async def test_the_application_keeps_its_own_keys_while_somebody_writes() -> None:
    bound = {key for row in WRITING_KEYS for key in row.keys.split(",")}
    assert not bound & {"ctrl+c", "ctrl+d", "ctrl+g", "ctrl+k", "ctrl+l", "ctrl+n", "ctrl+p", "ctrl+s", "ctrl+t"}
    assert not bound & {"ctrl+y", "ctrl+z", "tab", "escape", "enter"}


def test_every_key_of_writing_has_its_scene() -> None:
    assert set(KEYS) == {*SCENES, "undo", "redo", "copy"}
