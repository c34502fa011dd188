"""How a conversation with everything in it looks: large and small, dark and light, without colours, signs or boxes."""

import pytest

from tests.tui.chat import gallery
from tests.tui.chat.stage import reading
from tests.tui.scene import snapshot
from turnkeeper.tui import themes

THEMES = {"dark": themes.DARK.name, "light": themes.LIGHT.name}
LARGE, SMALL = (120, 40), (80, 24)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", [0, 1, 2])
async def test_a_conversation_on_a_large_screen(theme: str, page: int) -> None:
    async with reading(gallery.everything(), size=LARGE, theme=THEMES[theme]) as at:
        await at.press("g", *["f"] * page)
        snapshot(at.app, f"chat-large-{theme}-{page + 1}")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", [0, 2, 4])
async def test_a_conversation_on_a_small_screen(theme: str, page: int) -> None:
    async with reading(gallery.everything(), size=SMALL, theme=THEMES[theme]) as at:
        await at.press("g", *["f"] * page)
        snapshot(at.app, f"chat-small-{theme}-{page + 1}")


@pytest.mark.parametrize("theme", THEMES)
async def test_a_run_that_goes_on(theme: str) -> None:
    async with reading(gallery.going_on(), size=SMALL, theme=THEMES[theme]) as at:
        snapshot(at.app, f"chat-going-on-{theme}")


async def test_a_search_and_what_has_the_focus() -> None:
    async with reading(gallery.everything(), size=SMALL) as at:
        await at.press("slash", *"token")
        snapshot(at.app, "chat-search")


async def test_what_is_marked_with_the_mouse() -> None:
    async with reading(gallery.everything(), size=SMALL) as at:
        await at.press("g")
        await at.pilot.triple_click("#chat", offset=(10, 1))
        snapshot(at.app, "chat-selection")


async def test_a_terminals_own_colours_are_enough() -> None:
    async with reading(gallery.everything(), size=(100, 40), theme="ansi-dark") as at:
        await at.press("g", "f")
        snapshot(at.app, "chat-ansi")


async def test_a_terminal_without_unicode_is_shown_none() -> None:
    async with reading(gallery.everything(), size=(100, 200), lang="C") as at:
        assert "\n".join(at.lines).isascii()
        assert "+ Edit src/parser.py | +3 -1" in at.text


async def test_a_screen_reader_reads_words_line_by_line() -> None:
    async with reading(gallery.everything(), size=(80, 140), plain=True, lang="C") as at:
        text = "\n".join(at.lines)
        assert text.isascii()
        for told in (
            "you said:\n  The parser loses the last token.",
            "Tool Bash, failed: pytest -q tests/test_parser.py, exit 1, 3.2s",
            "Tool Edit, done: src/parser.py, 3 added, 1 removed\n    same 12: def tokenize",
            "removed 15:         if letter ==",
            "now: Flushing the held token",
            "row 2: case: none; before: 13; after: 14",
            "Tool Bash, denied: git push",
            "Failed: Provider Error\n    The provider is overloaded (503).",
        ):
            assert told in text
        assert not {"|", "+-", "--"} & set(text.split())
