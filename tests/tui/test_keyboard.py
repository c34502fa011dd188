"""What terminals send is the key that was pressed."""

import pytest
from textual.events import AppBlur, Key

from tests.tui.editor.scene import editor
from turnkeeper.tui.keyboard import understood

ESC = "\x1b"
WITH_ALT = [
    ("|one two", f"{ESC}d", "| two"),
    ("|one two", f"{ESC}d{ESC}d", "|"),
    ("one| two", f"{ESC}k", "one|"),
    ("one two|", f"{ESC}b", "one |two"),
    ("|one two", f"{ESC}f", "one| two"),
    ("one| two", f"{ESC}a\x7f", "|"),
    ("on|e", f"x{ESC}z", "on|e"),
    ("on|e", f"x{ESC}z{ESC}y", "onx|e"),
    ("one two|", f"{ESC}\x7f", "one |"),
    ("on|e", f"{ESC}\r", "on\n|e"),
    ("on|e", f"{ESC}[13;3u", "on\n|e"),
    ("on|e", f"{ESC}[13;2u", "on\n|e"),
    ("on|e", f"{ESC}[27;2;13~", "on\n|e"),
    ("on|e", "\n", "on\n|e"),
]


@pytest.mark.parametrize(("before", "said", "after"), WITH_ALT)
async def test_a_key_that_is_pressed_with_alt_or_shift_does_what_is_documented(
    before: str, said: str, after: str
) -> None:
    async with editor() as at:
        at.area.put(before.replace("|", ""), at=before.index("|"))
        await at.raw(said)
        assert (at.text, at.app.told) == (after, [])


async def test_what_is_marked_is_copied_by_the_key_as_a_terminal_sends_it() -> None:
    async with editor() as at:
        await at.type("one")
        await at.raw(f"{ESC}a{ESC}w")
        assert (at.app.clipboard, at.area.text) == ("one", "one")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (Key("alt+shift+d", "D"), Key("alt+shift+d", None)),
        (Key("shift+\r", "\r"), Key("shift+enter", None)),
        (Key("ctrl+\r", "\r"), Key("ctrl+enter", None)),
        (Key("d", "d"), Key("d", "d")),
        (Key("shift+space", " "), Key("shift+space", " ")),
        (Key("enter", "\r"), Key("enter", "\r")),
    ],
)
def test_a_key_is_called_by_its_name_and_writes_a_letter_only_where_it_is_one(said: Key, meant: Key) -> None:
    found = understood(said)
    assert (found.key, found.character) == (meant.key, meant.character)


async def test_where_the_terminal_is_not_looked_at_the_keys_that_hold_are_still_known() -> None:
    async with editor() as at:
        at.app.post_message(AppBlur())
        await at.until(lambda: not at.app.app_focus)
        assert at.area.has_focus
