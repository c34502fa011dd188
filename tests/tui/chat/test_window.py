"""The window on a conversation: what a person reads stays where it is, the end is followed, and little is kept."""

from msgspec.structs import replace

from tests.tui.chat import gallery
from tests.tui.chat.stage import reading
from turnkeeper.client.conversation import Conversation, Spot
from turnkeeper.client.view import View
from turnkeeper.protocol.messages import Message, PartKind
from turnkeeper.protocol.wire_clients import NameView
from turnkeeper.tui.chat.ink import Ink
from turnkeeper.tui.chat.items import Said
from turnkeeper.tui.chat.page import Top
from turnkeeper.tui.chat.sheet import LINES_KEPT_MAX, Sheet
from turnkeeper.tui.glyphs import UNICODE

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"


def answers(count: int, text: str = TABLE) -> list[Message]:
    """Answers that are higher or lower than they look from afar."""
    return [
        message
        for n in range(count)
        for message in (
            gallery.person(f"u{n}", f"Question {n}"),
            gallery.model(f"a{n}", gallery.Text(text * (n % 4 + 1)), gallery.END),
        )
    ]


def growing(messages: list[Message], text: str) -> View:
    """What is being written at the end of it all."""
    last = gallery.model("last", run="r")
    return gallery.view_of([*messages, last], gallery.active("r"), drafts={Spot("last", 0, PartKind.TEXT): text})


async def test_scrolling_up_through_what_was_never_in_sight_shows_every_line_once() -> None:
    view = gallery.view_of(answers(20))
    async with reading(view, size=(60, 12)) as at:
        expected = [
            line.content.plain.rstrip()
            for index in range(len(at.chat.sheet.items))
            for line in at.chat.sheet.lines(index)
        ]
    async with reading(view, size=(60, 12)) as at:
        seen = at.lines[-12:]
        while at.chat.top != Top():
            await at.press("k")
            seen.insert(0, at.lines[0])
        assert seen == expected


async def test_what_comes_below_moves_nothing_of_what_is_read_above_and_is_told() -> None:
    said = answers(30)
    async with reading(gallery.view_of(said), size=(60, 20)) as at:
        await at.press("b", "b")
        before = at.lines[:-1]
        await at.become(gallery.view_of([*said, gallery.person("new", "Something new")]))
        assert at.lines[:-1] == before
        assert "1 new below, G goes there" in at.lines[-1]
        await at.press("G")
        assert "Something new" in at.text
        assert "below" not in at.text


async def test_words_that_come_while_one_reads_above_move_nothing_and_are_told() -> None:
    async with reading(growing(answers(30), "Well"), size=(60, 20)) as at:
        await at.press("b", "b")
        before = at.lines[:-1]
        await at.become(growing(answers(30), "Well, it is\n\nlike this."))
        assert at.lines[:-1] == before
        assert "more below" in at.lines[-1]


async def test_what_changes_above_moves_nothing_of_what_is_read() -> None:
    said = answers(30)
    async with reading(gallery.view_of(said), size=(60, 20)) as at:
        await at.press("b", "b")
        before = at.lines
        said[1] = gallery.model("a0", gallery.Text("# Now\n\n" + TABLE * 9), gallery.END)
        await at.become(gallery.view_of(said))
        assert at.lines == before


async def test_the_end_is_followed_while_words_come() -> None:
    async with reading(growing(answers(5), "one"), size=(60, 20)) as at:
        for count in range(2, 30):
            await at.become(growing(answers(5), "\n\n".join(f"line {n}" for n in range(count))))
            assert f"line {count - 1}" in at.lines[-1]


async def test_another_width_keeps_what_is_read_in_sight() -> None:
    async with reading(gallery.view_of(answers(30, "word " * 40 + "\n\n")), size=(100, 20)) as at:
        await at.press("b", "b", "b")
        at.chat.focus_item(40)
        await at.pilot.resize_terminal(50, 20)
        await at.pilot.pause()
        assert at.chat.top.item in range(38, 42)


async def test_another_width_while_following_still_shows_the_end() -> None:
    async with reading(gallery.view_of(answers(30, "word " * 40 + "\n\n")), size=(100, 20)) as at:
        end = at.lines[-1].split()[-1]
        await at.pilot.resize_terminal(50, 20)
        await at.pilot.pause()
        assert at.chat.follows
        assert at.lines[-1].split()[-1] == end


async def test_expanding_keeps_the_heading_where_it_is() -> None:
    async with reading(gallery.everything(), size=(100, 30)) as at:
        await at.press("g", "d")
        index = next(i for i, item in enumerate(at.chat.sheet.items) if item.key == "a1:2")
        at.chat.focus_item(index)
        row = next(y for y, line in enumerate(at.lines) if "View src/parser.py" in line)
        await at.press("space")
        assert "View src/parser.py" in at.lines[row]
        await at.press("space")
        assert "View src/parser.py" in at.lines[row]


async def test_another_session_is_shown_from_its_end_and_read() -> None:
    view = gallery.view_of(answers(30))
    other = Conversation({"x": gallery.person("x", "Elsewhere")}, is_whole=True)
    view = replace(view, conversations={**view.conversations, "s2": other})
    async with reading(view, size=(60, 20)) as at:
        await at.press("g")
        at.chat.show("s2")
        await at.pilot.pause()
        assert "Elsewhere" in at.text
        assert "Question" not in at.text
        assert at.live.reads == [gallery.HERE, "s2"]
        at.chat.show(gallery.HERE)
        await at.pilot.pause()
        assert at.chat.follows
        assert "Question 29" in at.text


async def test_somebody_who_has_a_name_now_is_called_by_it() -> None:
    async with reading(gallery.view_of([gallery.person("u", "Hello", by="c1")])) as at:
        assert "c1" in at.text
        at.live.names["c1"] = "anna"
        await at.become(replace(at.live.view, names={"c1": NameView()}))
        assert "anna" in at.text
        assert "c1" not in at.text


async def test_a_sub_agents_conversation_is_read_once_its_call_is_in_sight() -> None:
    call = gallery.call("c", "agent", prompt="Look")
    view = gallery.view_of([gallery.model("a", call, run="r"), *answers(20)], gallery.active("r"))
    async with reading(view, size=(60, 20)) as at:
        assert at.live.reads == [gallery.HERE]
        await at.press("g")
        await at.become(replace(view, config_revision=1, runs={}))
        await at.become(view)
        assert at.live.reads == [gallery.HERE, "a$$c"]


async def test_nothing_is_shown_of_a_session_that_is_not_there() -> None:
    async with reading(View()) as at:
        assert at.text.strip() == ""
        await at.press("k", "j", "G", "g", "J", "K", "space", "n", "b", "f", "e")
        assert at.text.strip() == ""
        await at.press("c", "o")
        assert at.app.copied == []


def test_however_much_was_in_sight_what_is_kept_is_bounded() -> None:
    sheet = Sheet(Ink(80, UNICODE))
    sheet.put(tuple(Said(f"k{n}", TABLE * 5) for n in range(1_000)))
    for index in range(1_000):
        sheet.lines(index)
    assert sheet.lines_kept <= LINES_KEPT_MAX
    assert sheet.height == sum(len(sheet.lines(index)) for index in range(1_000))


def test_places_and_rows_agree_whatever_was_measured() -> None:
    sheet = Sheet(Ink(60, UNICODE))
    sheet.put(tuple(Said(f"k{n}", TABLE * (n % 3 + 1)) for n in range(50)))
    for index in range(49, -1, -1):
        before, guessed = sheet.height, sheet.start(index + 1) - sheet.start(index)
        measured = len(sheet.lines(index))
        assert sheet.height == before + measured - guessed
        assert all(sheet.at(sheet.start(other)) == (other, 0) for other in range(50))
    assert sheet.height == sum(len(sheet.lines(index)) for index in range(50))


def test_a_growing_text_keeps_the_lines_that_cannot_change() -> None:
    sheet = Sheet(Ink(60, UNICODE))
    sheet.put((Said("k", "One.\n\nTwo.\n\nThree.\n\nFo", writing=True),))
    before = sheet.lines(0)
    sheet.put((Said("k", "One.\n\nTwo.\n\nThree.\n\nFour and more", writing=True),))
    after = sheet.lines(0)
    assert [line.content.plain.strip() for line in after][1::2] == ["One.", "Two.", "Three.", "Four and more"]
    assert [one is other for one, other in zip(before, after, strict=True)][1:5] == [True, True, True, False]


async def test_links_are_handed_to_the_terminal() -> None:
    text = "See [the report](https://example.org/77)."
    async with reading(gallery.view_of([gallery.model("a", gallery.Text(text))])) as at:
        row = next(y for y, line in enumerate(at.lines) if "the report" in line)
        drawn = at.chat.render_line(row).render(at.app.console)
        assert "\x1b]8;" in drawn
        assert "https://example.org/77" in drawn


async def test_the_scroll_bar_moves_the_window_and_knows_the_end() -> None:
    async with reading(gallery.view_of(answers(30)), size=(60, 20)) as at:
        end = at.lines
        at.chat.scroll_to(y=0, animate=False)
        await at.pilot.pause()
        assert at.chat.top == Top()
        assert "Question 0" in at.text
        assert not at.chat.follows
        at.chat.scroll_to(y=at.chat.max_scroll_y, animate=False)
        await at.pilot.pause()
        assert at.lines == end
        assert at.chat.follows
