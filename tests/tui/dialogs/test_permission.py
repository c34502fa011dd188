"""May this be done? Answered by every key, by mouse, by somebody else; asked without haste; nothing typed is lost."""

from typing import Any

import pytest

from tests.server.asking import running, shell, using
from tests.tui.dialogs.scene import EDIT, Table, editor, table
from tests.tui.scene import presses, snapshot
from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.protocol.requests import Decision
from turnkeeper.tui.dialogs.choices import Choices
from turnkeeper.tui.dialogs.dialog import Heading
from turnkeeper.tui.dialogs.grace import Grace
from turnkeeper.tui.dialogs.paper import Paper
from turnkeeper.tui.dialogs.permission import PermissionDialog
from turnkeeper.tui.wishes import Put


async def shown(at: Table, *, calm: bool = True) -> list[Any]:
    await at.prompt("go")
    (request,) = await at.asked()
    left = await at.open(PermissionDialog(at.live, request.id))
    if calm:
        await at.calm()
    return left


async def audited(at: Table) -> tuple[str, str, str]:
    """What was decided, once it was."""
    await at.workspace.runs.wait("r1")
    (entry,) = await at.workspace.permissions.audit()
    return entry.decision, entry.scope, entry.reason


ANSWERS = [
    ("a", ("allowed", "once", "")),
    ("y", ("allowed", "once", "")),
    ("s", ("allowed", "session", "")),
    ("w", ("allowed", "workspace", "")),
    ("A", ("allowed", "always", "")),
    ("d", ("denied", "", "")),
    ("n", ("denied", "", "")),
]


@presses("permission.once", "permission.session", "permission.workspace", "permission.always", "permission.deny")
@pytest.mark.parametrize(("key", "decided"), ANSWERS)
async def test_each_answer_has_a_key(key: str, decided: tuple[str, str, str]) -> None:
    acts: list[str] = []
    async with table(*running("make all"), tools=[shell(acts)]) as at:
        await shown(at)
        await at.press(key)
        await at.until(lambda: at.is_closed)
        assert await audited(at) == decided
        assert acts == (["make all"] if decided[0] == "allowed" else [])


@presses("permission.reason")
async def test_a_denial_can_say_why_and_escape_goes_back_without_losing_what_was_written() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at)
        await at.press("r")
        await at.type("use a d")
        await at.press("escape")
        assert at.app.focused is None
        await at.press("r", "end")
        await at.type("ay\n")
        await at.until(lambda: at.is_closed)
        assert await audited(at) == ("denied", "", "use a day")


@presses("permission.next", "permission.previous", "permission.choose")
async def test_an_answer_is_chosen_with_arrows_and_says_what_it_means_before_it_is_given() -> None:
    async with table(*running("git commit -m x"), tools=[shell([])]) as at:
        await shown(at)
        await at.press("right")
        await at.shows("Not asked again in this session: bash:execute(git commit:*)")
        await at.press("tab", "l")
        await at.shows("Not asked again anywhere: bash:execute(git commit:*)")
        await at.press("left", "shift+tab", "h", "h")
        assert at.app.screen.query_one(Choices).choice.id == "reason"
        await at.press("left", "enter")
        await at.until(lambda: at.is_closed)
        assert await audited(at) == ("denied", "", "")


async def test_what_has_no_shape_is_allowed_once_or_not_at_all() -> None:
    async with table(*running("make | sh"), tools=[shell([])]) as at:
        await shown(at)
        await at.shows("it can be allowed once only")
        await at.press("s", "w", "A", "right")
        assert at.app.screen.query_one(Choices).choice.id == "deny"
        assert at.live.view.permissions


async def test_whoever_was_typing_when_it_appeared_has_answered_nothing() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at, calm=False)
        await at.press("a", "enter", "d", "y")
        await at.pilot.click(Choices, offset=(2, 0))
        await at.pilot.pause()
        at.clock.at += 0.299
        await at.press("a")
        at.clock.at += 0.299
        await at.press("a")
        assert list(at.live.view.permissions)
        assert not at.is_closed
        at.clock.at += 0.31
        await at.press("a")
        await at.until(lambda: at.is_closed)


async def test_what_is_typed_while_it_appears_goes_on_where_it_was_begun_and_what_answers_does_not() -> None:
    both = turn(CallTool("c1", "bash", {"command": "one"}), CallTool("c2", "bash", {"command": "two"}))
    tool = shell([])
    tool.parallel = True
    async with table(both, turn(Say("done")), tools=[tool]) as at:
        session_id = await at.prompt("go")
        await at.asked(2)
        main = at.app.main
        assert main is not None
        await main.open(session_id)
        main.composer.put("asd")
        main.ask_next()
        await at.until(lambda: not at.is_closed)
        await at.type(" asd asd")
        await at.press("enter", "ctrl+p")
        await at.until(lambda: main.composer._area.text == "asd asd asd")
        assert len(at.live.view.permissions) == 2
        await at.calm()
        await at.press("a")
        await at.shows("two")
        await at.until(lambda: len(at.live.view.permissions) == 1)
        await at.press("a")
        assert (main.composer._area.text, len(at.live.view.permissions)) == ("asd asd asd", 1)


async def test_the_keys_that_are_shown_are_those_that_people_look_for() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at)
        await at.shows("→ choose", "↓ scroll")


def test_a_grace_lasts_until_a_silence_and_not_for_ever() -> None:
    grace = Grace(10.0)
    assert [grace.swallows(now) for now in (10.0, 10.25, 10.5, 10.75, 11.0, 11.25, 11.4)] == [True] * 7
    assert not grace.swallows(11.5)
    assert not Grace(10.0).swallows(10.3)


@presses("permission.later")
async def test_what_is_put_off_goes_on_waiting() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        left = await shown(at)
        await at.press("escape")
        assert (at.is_closed, left, len(at.live.view.permissions)) == (True, [None], 1)


async def test_it_goes_by_itself_when_somebody_else_has_answered_and_says_who_and_how() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at)
        (request,) = at.live.view.permissions.values()
        await at.workspace.permissions.answer(request, Decision(allowed=False, reason="not now"))
        await at.until(lambda: at.is_closed)
        await at.shows("Bob@desk denied it")


async def test_a_reason_that_was_being_written_when_somebody_else_answered_is_kept() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        left = await shown(at)
        await at.press("r")
        await at.type("please use")
        (request,) = at.live.view.permissions.values()
        await at.workspace.permissions.answer(request, Decision(allowed=True))
        await at.until(lambda: left == [Put("please use")])


async def test_several_are_counted_and_come_one_after_the_other() -> None:
    both = turn(CallTool("c1", "bash", {"command": "one"}), CallTool("c2", "bash", {"command": "two"}))
    tool = shell([])
    tool.parallel = True
    async with table(both, turn(Say("done")), tools=[tool]) as at:
        await at.prompt("go")
        first, second = await at.asked(2)
        await at.open(PermissionDialog(at.live, first.id))
        await at.shows("1 of 2", first.subject)
        await at.calm()
        await at.press("a")
        await at.shows(second.subject)
        # The next one appears as the first did: not to be answered by a key that was meant for that.
        await at.press("a")
        assert not at.is_closed
        await at.calm()
        await at.press("a")
        await at.until(lambda: at.is_closed)


async def test_a_run_that_is_stopped_takes_its_question_along() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at)
        await at.workspace.runs.cancel("r1")
        await at.until(lambda: at.is_closed)
        await at.shows("No answer is needed any more")


async def test_how_long_an_answer_is_waited_for_is_a_clock() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at)
        first = at.app.screen.query_one(Heading).beside.plain
        at.clock.at += 60
        await at.until(lambda: at.app.screen.query_one(Heading).beside.plain != first)
        assert "left" in first


LONG = {
    "file_path": "/front/a.py",
    "old_content": "",
    "new_content": "\n".join(f"line_{number} = '{'x' * 200}'" for number in range(200)),
}


@presses("permission.up", "permission.down", "permission.page-up", "permission.page-down")
@presses("permission.shift-left", "permission.shift-right", "permission.split", "permission.full")
async def test_all_of_a_change_can_be_read_before_it_is_allowed() -> None:
    async with table(using("edit", LONG), tools=[editor([])]) as at:
        await shown(at)
        paper = at.app.screen.query_one(Paper)
        await at.press("down", "j")
        assert paper.scroll_offset.y == 2
        await at.press("up", "k", "pagedown", "ctrl+d")
        assert paper.scroll_offset.y > paper.size.height
        await at.press("pageup", "ctrl+u")
        assert paper.scroll_offset.y == 0
        await at.press("shift+right", "L")
        assert paper.shift == 10
        await at.press("shift+left", "H")
        assert paper.shift == 0
        before = paper.size.height
        await at.press("f")
        await at.until(lambda: paper.size.height > before)
        await at.press("f")
        await at.until(lambda: paper.size.height == before)
        await at.press("t")
        assert paper.is_split
        await at.press("t")
        assert not paper.is_split


@presses("permission.edits")
async def test_every_edit_of_the_workspace_is_allowed_at_once_but_for_files_with_secrets() -> None:
    paths = ("/front/a.py", "/front/src/b.py", "/front/.env", "/elsewhere/c.py")
    turns = [using("edit", EDIT | {"file_path": path}, f"c{at}") for at, path in enumerate(paths)]
    acts: list[str] = []
    async with table(*turns, turn(Say("done")), tools=[editor(acts)]) as at:
        await shown(at)
        await at.press("right", "right")
        await at.shows("Not asked again in this session, but for secrets, hooks and settings: edit(**)")
        await at.press("e")
        for path in paths[2:]:
            await at.until(lambda: [one.subject for one in at.live.view.permissions.values()] == [path])  # noqa: B023 - at once
            (request,) = await at.asked()
            assert (request.edits, acts) == ((), list(paths[: paths.index(path)]))
            await at.workspace.permissions.answer(request, Decision(allowed=True))
        await at.workspace.runs.wait("r1")
        assert acts == list(paths)
        assert {(one.scope, one.rule.subject) for one in await at.workspace.permissions.grants()} == {("session", "**")}


async def test_an_answer_is_given_with_the_mouse() -> None:
    async with table(*running("make"), tools=[shell([])]) as at:
        await shown(at)
        await at.pilot.click(Choices, offset=(2, 0))
        await at.until(lambda: at.is_closed)
        assert await audited(at) == ("allowed", "once", "")


async def test_what_a_command_says_of_itself_cannot_move_the_cursor() -> None:
    async with table(*running("echo \x1b[2J\x1b]0;owned\x07 safe"), tools=[shell([])]) as at:
        await shown(at)
        await at.shows("echo  safe")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=lambda size: f"{size[0]}")
@pytest.mark.parametrize("theme", ["turnkeeper-dark", "turnkeeper-light"])
async def test_how_it_looks(size: tuple[int, int], theme: str) -> None:
    async with table(using("edit", EDIT), tools=[editor([])], size=size) as at:
        await at.blank()
        await shown(at)
        at.app.theme = theme
        await at.press("right")
        await at.pilot.pause()
        snapshot(at.app, f"permission-{size[0]}-{theme.removeprefix('turnkeeper-')}")
