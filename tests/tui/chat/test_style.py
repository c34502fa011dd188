"""Every name that drawing uses looks like something, in every theme; and source text is coloured line by line."""

import pytest
from textual.content import Content
from textual.style import Style

from tests.tui.chat import gallery
from tests.tui.chat.samples import SAMPLES, used
from tests.tui.chat.stage import reading
from turnkeeper.tui import themes
from turnkeeper.tui.chat.code import CHARACTERS_MAX, highlighted
from turnkeeper.tui.chat.copied import is_mark
from turnkeeper.tui.chat.draw import draw
from turnkeeper.tui.chat.fold import fold
from turnkeeper.tui.chat.ink import STYLES, Drawn, Ink, cleaned
from turnkeeper.tui.chat.items import Ending, EndKind, Item, Standing
from turnkeeper.tui.chat.style import CSS
from turnkeeper.tui.glyphs import UNICODE


def everything() -> list[Drawn]:
    items: list[Item] = [*fold(gallery.everything(), gallery.HERE).items, *fold(gallery.going_on(), gallery.HERE).items]
    items += [used(sample, standing) for sample in SAMPLES for standing in Standing]
    inks = [Ink(width, UNICODE, expanded=expanded) for width in (60, 160) for expanded in (False, True)]
    return [draw(item, ink)[0] for item in items for ink in inks]


def test_what_a_provider_said_went_wrong_is_broken_between_words() -> None:
    said = "The model named in the settings is not known to its provider: correct it, or choose another model."
    drawn = draw(Ending("e", EndKind.FAILED, message=said), Ink(60, UNICODE))[0]
    rows = [line.content.plain.strip() for line in drawn.lines]
    assert [word for row in rows for word in row.split() if word not in [*said.split(), "×", "Failed"]] == []


def test_drawing_uses_only_names_that_have_a_look() -> None:
    names = {
        span.style
        for drawn in everything()
        for line in drawn.lines
        for span in [*line.content.spans, *([] if not line.fill else Content.styled("x", line.fill).spans)]
        if not isinstance(span.style, Style) and not is_mark(span.style)
    }
    assert names <= set(STYLES)
    assert [name for name in STYLES if f"chat--{name} " not in CSS] == []


@pytest.mark.parametrize("theme", [*sorted(themes.all_themes({}))])
async def test_in_every_theme_text_differs_from_its_ground(theme: str) -> None:
    async with reading(gallery.going_on()) as at:
        at.app.register_theme(themes.all_themes({})[theme])
        at.app.theme = theme
        await at.pilot.pause()
        ground = at.chat.visual_style
        for name in STYLES:
            style = (ground + at.chat.style_of(name)).rich_style
            is_the_terminals_own = style.color is not None and style.color.is_default
            assert is_the_terminals_own or style.reverse or style.color != style.bgcolor


@pytest.mark.parametrize(
    ("text", "language", "path"),
    [
        ("def f():\n    '''a\n\n    b'''\n    return 1", "python", ""),
        ("def f():\n    return 1\n", "", "/a/b.py"),
        ('{"a": [1, true]}', "json", ""),
        ("\n\nx = 1\n\n", "python", ""),
        ("no language at all\n\tso", "", ""),
        ("odd", "nosuchlanguage", ""),
        ("a\nb", "", "/a/file.nosuchending"),
        ("x" * (CHARACTERS_MAX + 1), "python", ""),
    ],
)
def test_source_text_keeps_its_lines_whatever_its_language(text: str, language: str, path: str) -> None:
    lines = highlighted(cleaned(text), language=language, path=path)
    assert "\n".join(line.plain for line in lines) == cleaned(text)


def test_what_spans_lines_is_coloured_on_each_of_them() -> None:
    lines = highlighted("'''a\nb'''", language="python")
    assert [[span.style for span in line.spans] for line in lines] == [["code-string"], ["code-string"]]
