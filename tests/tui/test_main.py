"""The main screen: prompts sent, stopped, put in line and ordered; sessions opened; and what stands around them."""

from dataclasses import replace

from textual import events

from tests.tui.dialogs.house import at_home
from tests.tui.scene import At, another, presses, terminal
from turnkeeper.models.scripted import CallTool, Hold, Say, turn
from turnkeeper.protocol.config import Scope
from turnkeeper.protocol.requests import Decision
from turnkeeper.protocol.runs import Attachment, Outcome
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.scene import QUICK, PlainTool
from turnkeeper.tools.tool import Asking, Call, Hands
from turnkeeper.tui.chat.transcript import Transcript
from turnkeeper.tui.dialogs.help import Help
from turnkeeper.tui.dialogs.line import EditPrompt
from turnkeeper.tui.dialogs.models import Models
from turnkeeper.tui.dialogs.people import People
from turnkeeper.tui.dialogs.permission import PermissionDialog
from turnkeeper.tui.dialogs.permissions import Permissions
from turnkeeper.tui.dialogs.sessions import Sessions
from turnkeeper.tui.editor.composer import Composer
from turnkeeper.tui.live import CONVERSATIONS_MAX
from turnkeeper.tui.main import Main
from turnkeeper.tui.side.queue import Queue

HELD = turn(Say("One moment"), Hold("gate"), Say(", done."))


async def test_what_is_written_is_sent_and_answered_in_a_session_of_its_own() -> None:
    async with terminal(turn(Say("Hello back."))) as at:
        await at.type("hello there")
        await at.press("enter")
        await at.shows("hello there", "Hello back.")
        (session,) = await at.workspace.sessions.list()
        assert at.app.main is not None
        assert at.app.main.session_id == session.id


async def busy(at: At, *texts: str) -> str:
    """A session in which a run is going on, and texts wait in line behind it. Its id."""
    for text in ("first", *texts):
        await at.type(text)
        await at.press("enter")
        if text == "first":
            await at.shows("One moment", "esc esc to stop")
    assert at.app.main is not None
    session_id = at.app.main.session_id
    await at.until(lambda: len(at.live.view.waiting(session_id)) == len(texts))
    return session_id


def line(at: At, session_id: str) -> list[str]:
    return [run.prompt for run in at.live.view.waiting(session_id)]


async def test_one_escape_arms_and_the_second_stops_what_runs() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at)
        await at.press("escape")
        await at.shows("esc again to stop")
        assert at.live.view.active(session_id) is not None
        await at.press("escape")
        await at.shows("Stopped after", "ready")
        (run,) = await at.workspace.runs.list(session_id)
        assert run.outcome == Outcome.CANCELLED


async def test_escape_twice_stops_what_runs_also_for_whoever_reads_and_ends_a_search_first() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at)
        await at.press("tab")
        await at.until(lambda: at.app.screen.query_one(Transcript).has_focus)
        await at.press("slash", "o", "escape", "escape")
        await at.shows("esc again to stop")
        await at.press("escape")
        await at.shows("Stopped after", "ready")
        (run,) = await at.workspace.runs.list(session_id)
        assert run.outcome == Outcome.CANCELLED


async def test_prompts_that_are_sent_at_once_begin_one_session_and_are_in_line_as_they_were_written() -> None:
    async with terminal(HELD) as at:
        await at.type("first\nsecond\nthird\n")
        await at.shows("2 waiting", "1 second", "2 third")
        assert len(await at.workspace.sessions.list()) == 1


async def test_a_run_that_is_stopped_before_its_first_step_is_not_said_to_have_had_none() -> None:
    async with terminal(turn(Hold("gate"))) as at:
        await at.type("first\n")
        await at.shows("esc esc to stop")
        await at.press("escape", "escape")
        await at.shows("Stopped after")
        assert "0 steps" not in at.screen_text()


async def test_in_a_tiny_terminal_a_list_has_rows_and_a_permission_its_answers() -> None:
    asks = turn(CallTool("c1", "bash", {"command": "make it"}))
    async with terminal(asks, turn(Say("It is made.")), tools=[wants("bash")], size=(30, 8)) as at:
        await at.press("ctrl+p")
        await at.shows("Commands", "sessions", "models")
        await at.press("escape")
        await at.type("make it\n")
        await asked(at)
        await at.shows("Run a command?", "Allow", "Deny", "make it")


async def test_a_key_that_is_found_says_where_it_holds() -> None:
    async with terminal() as at:
        await at.press("ctrl+g")
        await at.until(lambda: isinstance(at.app.screen, Help))
        await at.type("ctrl+z")
        await at.until(
            lambda: [row for row in at.screen_text().split("\n") if "Suspend" in row and "Everywhere" in row]
        )
        assert [row for row in at.screen_text().split("\n") if "Take back: this file" in row and "Changed files" in row]


async def test_who_leaves_is_told_which_session_it_was_and_how_to_come_back() -> None:
    async with terminal(turn(Say("Hello back.")), turn(Say("Greeting"))) as at:
        assert at.app.farewell == ""
        await at.type("hello\n")
        await at.shows("Hello back.")
        assert at.app.main is not None
        session = at.live.view.sessions[at.app.main.session_id]
        assert at.app.farewell == f"{session.title}: turnkeeper --continue"
        await at.workspace.sessions.create("A later one")
        await at.until(lambda: f"--session {session.id[:8]}" in at.app.farewell)


async def test_what_waited_of_ones_own_comes_back_when_one_stops_everything() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at, "second", "third")
        await at.press("escape", "escape")
        await at.until(lambda: at.live.view.active(session_id) is None)
        await at.until(lambda: at.app.screen.query_one(Composer)._area.text == "second\nthird")
        await at.shows("ready")
        runs = await at.workspace.runs.list(session_id)
        assert [run.outcome for run in runs] == [Outcome.CANCELLED] * 3


@presses("app.queue", "queue.leave")
async def test_the_line_that_waits_is_in_sight_and_can_be_gone_to() -> None:
    async with terminal(HELD) as at:
        await busy(at, "second", "third")
        await at.shows("2 waiting", "1 second", "2 third")
        await at.press("ctrl+t")
        await at.until(lambda: at.app.screen.query_one(Queue).has_focus)
        await at.press("escape")
        await at.until(lambda: at.app.screen.query_one(Composer).has_focus_within)


@presses("queue.earlier", "queue.later")
async def test_a_waiting_prompt_moves_in_its_line() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at, "second", "third", "fourth")
        await at.press("ctrl+t")
        await at.press("shift+down")
        await at.until(lambda: line(at, session_id) == ["third", "second", "fourth"])
        await at.press("J")
        await at.until(lambda: line(at, session_id) == ["third", "fourth", "second"])
        await at.press("K", "shift+up")
        await at.until(lambda: line(at, session_id) == ["second", "third", "fourth"])


@presses("queue.remove")
async def test_a_waiting_prompt_is_taken_out_and_given_back() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at, "second", "third")
        await at.press("ctrl+t")
        await at.press("d")
        await at.until(lambda: line(at, session_id) == ["third"])
        await at.until(lambda: at.app.screen.query_one(Composer)._area.text == "second")


async def test_what_was_attached_to_a_prompt_comes_back_with_it() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at)
        assert at.app.main is not None
        notes = Attachment("notes.txt", "notes.txt", "text/plain", b"some notes")
        await at.app.main.send("read this", (notes,))
        await at.until(lambda: line(at, session_id) == ["read this"])
        await at.press("ctrl+t")
        await at.press("d")
        await at.shows("notes.txt", "read this")
        await at.until(lambda: line(at, session_id) == [])


@presses("queue.now")
async def test_a_waiting_prompt_joins_what_is_running() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at, "second")
        await at.press("ctrl+t")
        await at.press("s")
        await at.until(lambda: at.live.view.waiting(session_id)[0].foldable)
        await at.shows("joins the next step")


@presses("app.new", "landing.open")
async def test_a_new_session_begins_at_the_landing_and_the_old_one_is_opened_from_there() -> None:
    async with terminal(turn(Say("Hello back."))) as at:
        await at.type("hello there")
        await at.press("enter")
        await at.shows("Hello back.")
        await at.press("ctrl+n")
        await at.until(lambda: "Hello back." not in at.screen_text())
        await at.press("shift+tab")
        await at.press("down", "enter")
        await at.shows("Hello back.")


async def test_other_peoples_sessions_are_not_held_all_day_and_can_still_be_opened() -> None:
    async with terminal(turn(Say("Hello back.")), turn(Say("Said elsewhere."))) as at:
        await at.type("hello\n")
        await at.shows("Hello back.")
        assert at.app.main is not None
        mine = at.app.main.session_id
        other = await at.workspace.sessions.create("Another")
        await at.workspace.runs.wait(await at.workspace.runs.submit(other.id, "go"))
        for number in range(CONVERSATIONS_MAX + 4):
            await at.workspace.sessions.create(f"Session {number}")
        await at.until(lambda: len(at.live.view.sessions) == CONVERSATIONS_MAX + 6)
        await at.until(lambda: len(at.live.view.conversations) <= CONVERSATIONS_MAX)
        assert mine in at.live.view.conversations
        assert other.id not in at.live.view.conversations
        await at.app.main.open(other.id)
        await at.shows("Said elsewhere.")


@presses("app.sidebar")
async def test_the_side_comes_and_goes() -> None:
    async with terminal(turn(Say("Hello back."))) as at:
        await at.type("hello")
        await at.press("enter")
        await at.shows("Hello back.", "200k")
        await at.press("ctrl+d")
        await at.until(lambda: "of 200k" not in at.screen_text() and "of context" in at.screen_text())
        await at.press("ctrl+d")
        await at.shows("of 200k")


async def test_a_small_terminal_has_one_line_in_place_of_the_side() -> None:
    async with terminal(turn(Say("Hello back.")), size=(80, 24)) as at:
        await at.type("hello")
        await at.press("enter")
        await at.shows("Hello back.", "of context")
        assert "of 200k" not in at.screen_text()


@presses("app.switch")
async def test_tab_moves_between_writing_and_reading() -> None:
    async with terminal(turn(Say("Hello back."))) as at:
        await at.type("hello")
        await at.press("enter")
        await at.shows("Hello back.")
        await at.press("tab")
        await at.until(lambda: not at.app.screen.query_one(Composer).has_focus_within)
        await at.press("tab")
        await at.until(lambda: at.app.screen.query_one(Composer).has_focus_within)


@presses("app.yolo")
async def test_yolo_is_seen_by_everybody_and_taken_back_by_the_same_key() -> None:
    async with terminal() as at:
        await at.press("ctrl+y", "ctrl+y")
        await at.shows("yolo")
        assert (await at.workspace.permissions.skip()).by
        await at.press("ctrl+y")
        await at.until(lambda: not at.live.view.skip)


async def test_a_session_that_somebody_else_deletes_is_left() -> None:
    async with terminal(turn(Say("Hello back."))) as at:
        await at.type("hello")
        await at.press("enter")
        await at.shows("Hello back.")
        assert at.app.main is not None
        await at.workspace.sessions.delete(at.app.main.session_id)
        await at.shows("This session was deleted.")
        assert at.app.main.session_id == ""


async def test_a_run_of_somebody_else_is_seen_as_it_happens() -> None:
    async with terminal(HELD, turn(Say("Second answer."))) as at:
        session_id = await busy(at)
        run_id = await at.workspace.runs.submit(session_id, "theirs")
        await at.shows("1 theirs")
        at.server.front.model().release("gate")
        await at.workspace.runs.wait(run_id)
        await at.shows("One moment, done.", "theirs", "Second answer.")


@presses("queue.edit", "line.save", "line.newline")
async def test_a_waiting_prompt_is_given_another_text() -> None:
    async with terminal(HELD) as at:
        session_id = await busy(at, "second")
        await at.press("ctrl+t", "e")
        await at.until(lambda: isinstance(at.app.screen, EditPrompt))
        await at.shows("^s save")
        await at.press("ctrl+j")
        await at.type("and mo")
        for key, letter in (("x", "x"), ("backspace", None), ("r", "r"), ("e", "e")):
            at.app.post_message(events.Key(key, letter))
        await at.pilot.pause()
        await at.press("ctrl+s")
        await at.until(lambda: line(at, session_id) == ["second\nand more"])


async def test_an_edit_that_comes_too_late_is_not_lost() -> None:
    async with terminal(HELD, turn(Say("Second answer."))) as at:
        await busy(at, "second")
        await at.press("ctrl+t", "e")
        await at.until(lambda: isinstance(at.app.screen, EditPrompt))
        await at.type(" but better")
        at.server.front.model().release("gate")
        await at.shows("It runs already", "second but better", "Second answer.")


@presses("queue.release")
async def test_a_line_that_is_held_is_let_go() -> None:
    stores: dict[str, MemoryStore] = {}
    async with terminal(HELD, stores=stores) as at:
        session_id = await busy(at, "second")
        await at.workspace.sessions.get(session_id)
    store = stores["/front"]
    held = replace(QUICK, queue_waits_after_crash=True)
    async with terminal(turn(Say("Went on.")), stores={"/front": store}, session=session_id, knobs=held) as at:
        await at.shows("held: r lets them go on", "1 second")
        await at.press("ctrl+t", "r")
        await at.shows("Went on.")


def wants(name: str) -> PlainTool:
    """A tool that asks before it acts."""

    async def act(call: Call, hands: Hands) -> str:
        await hands.permit(Asking(name, "execute", "run it", "/front", f"{name} it", dict(call.input)))
        return "done"

    return PlainTool(name, act)


async def test_what_waits_for_a_person_is_asked_at_once_and_what_others_answer_goes_by_itself() -> None:
    asks = turn(CallTool("c1", "bash", {"command": "make it"}))
    async with terminal(asks, turn(Say("It is made.")), tools=[wants("bash")]) as at:
        await at.type("make it")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, PermissionDialog))
        await at.shows("Run a command?")
        (request,) = at.live.view.permissions.values()
        await at.workspace.permissions.answer(request, Decision(allowed=True))
        await at.until(lambda: isinstance(at.app.screen, Main))
        await at.shows("It is made.", "allowed it")


async def asked(at: At) -> None:
    """A permission is asked for, and no key is taken for an answer any more that was meant for something else."""
    await at.until(lambda: isinstance(at.app.screen, PermissionDialog))
    dialog = at.app.screen
    assert isinstance(dialog, PermissionDialog)
    await at.until(lambda: dialog._grace.is_over(at.app.now()))


@presses("app.answer")
async def test_what_was_put_aside_is_brought_back() -> None:
    asks = turn(CallTool("c1", "bash", {"command": "make it"}))
    async with terminal(asks, turn(Say("It is made.")), tools=[wants("bash")]) as at:
        await at.type("make it")
        await at.press("enter")
        await asked(at)
        await at.press("escape")
        await at.until(lambda: isinstance(at.app.screen, Main))
        await at.shows("waiting for a permission", "ctrl+k to answer", "waiting for permission (ctrl+k answers)")
        await at.press("ctrl+k")
        await asked(at)
        await at.press("escape")
        await at.press("ctrl+n")
        await at.shows("1 elsewhere waits for an answer (ctrl+k)")
        await at.press("ctrl+k")
        await asked(at)


@presses("app.sessions")
async def test_sessions_are_opened_by_their_key() -> None:
    async with terminal(turn(Say("Hello back."))) as at:
        await at.type("hello")
        await at.press("enter")
        await at.shows("Hello back.")
        await at.press("ctrl+n", "ctrl+s")
        await at.until(lambda: isinstance(at.app.screen, Sessions))
        await at.press("enter")
        await at.shows("Hello back.")


@presses("app.models")
async def test_models_are_chosen_by_their_key() -> None:
    async with terminal() as at:
        await at.press("ctrl+l")
        await at.until(lambda: isinstance(at.app.screen, Models))


@presses("grants.revoke")
async def test_what_was_allowed_for_longer_is_listed_and_taken_back() -> None:
    asks = turn(CallTool("c1", "bash", {"command": "make it"}))
    async with terminal(asks, turn(Say("It is made.")), tools=[wants("bash")]) as at:
        await at.type("make it")
        await at.press("enter")
        await asked(at)
        await at.press("s")
        await at.shows("It is made.")
        await at.type("/permissions")
        await at.press("enter")
        await at.until(lambda: isinstance(at.app.screen, Permissions))
        await at.shows("in its session")
        await at.press("ctrl+x")
        await at.shows("There is nothing here.")
        assert await at.workspace.permissions.grants() == []
        await at.press("tab")
        await at.shows("allowed by you")


async def test_somebody_is_followed_from_session_to_session_until_one_opens_another_oneself() -> None:
    async with terminal(turn(Say("First answer.")), turn(Say("Second answer."))) as at:
        ids: list[str] = []
        for title in ("one", "two"):
            ids.append((await at.workspace.sessions.create(title)).id)
            await at.workspace.runs.wait(await at.workspace.runs.submit(ids[-1], title))
        async with another(at.server, at.workspace) as guide:
            assert guide.app.main is not None
            assert at.app.main is not None
            await guide.app.main.open(ids[0])
            await at.until(lambda: any(one.session_id == ids[0] for one in at.live.view.clients.values()))
            await at.type("/people")
            await at.press("enter")
            await at.until(lambda: isinstance(at.app.screen, People))
            await at.shows("looks at one")
            await at.press("enter")
            await at.shows("First answer.", "following")
            await guide.app.main.open(ids[1])
            await at.shows("Second answer.", "following")
            await at.app.main.open(ids[0])
            await guide.app.main.open("")
            await guide.app.main.open(ids[1])
            await at.until(lambda: any(one.session_id == ids[1] for one in at.live.view.clients.values()))
            await at.shows("First answer.", "ready")
            assert at.app.main.following == ""


async def test_keys_of_ones_own_take_the_place_of_those_of_the_map() -> None:
    async with at_home() as at:
        await at.press("ctrl+g")
        await at.until(lambda: isinstance(at.app.screen, Help))
        await at.press("escape")
        await at.workspace.config.set(Scope.GLOBAL, "options.tui.keys", {"app.help": "f9", "app.nowhere": "f8"})
        await at.shows("there is no app.nowhere in the key map")
        await at.press("ctrl+g")
        await at.press("f9")
        await at.until(lambda: isinstance(at.app.screen, Help))
        await at.shows("f9")


async def test_a_theme_of_ones_own_is_shown_as_soon_as_it_is_set() -> None:
    async with at_home() as at:
        await at.workspace.config.set(Scope.GLOBAL, "options.tui.themes", {"mine": {"primary": "#ff8800"}})
        await at.workspace.config.set(Scope.GLOBAL, "options.tui.theme", "mine")
        await at.until(lambda: at.app.theme == "mine")
        assert at.app.current_theme.primary == "#ff8800"


async def test_what_came_while_something_stood_over_the_conversation_is_asked_when_it_has_gone() -> None:
    asks = turn(Hold("gate"), CallTool("c1", "bash", {"command": "make it"}))
    async with terminal(asks, turn(Say("It is made.")), tools=[wants("bash")]) as at:
        await at.type("make it\n")
        await at.until(lambda: at.app.main is not None and at.live.view.active(at.app.main.session_id))
        await at.press("ctrl+p")
        await at.shows("Commands")
        at.server.front.model().release("gate")
        await at.until(lambda: at.live.view.permissions)
        await at.press("escape")
        await at.shows("Run a command?")
