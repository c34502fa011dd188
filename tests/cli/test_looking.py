"""Looking at conversations and at what was done: `sessions`, `why`, `jobs`, `permissions`, `stats`."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cli.inside import Inside, inside, said
from turnkeeper.cli.sessions import how_far
from turnkeeper.models.scripted import CallTool, Hold, Say, Use, turn
from turnkeeper.protocol.ids import RunId, SessionId, ToolCallId
from turnkeeper.protocol.requests import Decision
from turnkeeper.protocol.runs import Usage
from turnkeeper.protocol.sessions import Effect, EffectState
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Asking, Call, Hands


async def test_sessions_are_listed_for_people_and_for_programs() -> None:
    async with inside(turn(Say("one")), turn(Say("two"))) as at:
        assert (await at.tk("sessions")).err.startswith("There are no sessions here yet.")
        first, second = await said(at, "First talk", "hi"), await said(at, "A name \x1b[31mwith\x07 colours", "ho")
        listed = await at.tk("sessions", "list")
        heading, newest, oldest = listed.out.splitlines()
        assert heading.split() == ["ID", "CHANGED", "MESSAGES", "COST", "STATE", "TITLE"]
        assert (newest.split()[0], oldest.split()[0]) == (second[:8], first[:8])
        assert newest.endswith("A name with colours")
        assert "\x1b" not in listed.out
        assert [one["id"] for one in (await at.tk("sessions", "--json")).json()] == [second, first]


ORDERS = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
ASKED = {
    "list": ("sessions", "list"),
    "json": ("sessions", "list", "--json"),
    "search": ("sessions", "search", "words"),
    "show": ("sessions", "show", "last"),
    "export": ("sessions", "export", "last"),
    "why": ("why", "last"),
    "runs": ("runs",),
    "unknown": ("sessions", "show", f"no{ORDERS}body"),
    "delete": ("sessions", "delete", "last", "--yes"),
}


@pytest.mark.parametrize("arguments", ASKED.values(), ids=ASKED)
async def test_nothing_that_was_said_gives_a_terminal_orders(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with inside(turn(Say(f"an {ORDERS}answer"))) as at:
        await said(at, f"A title {ORDERS}of words", f"some {ORDERS}words")
        done = await at.tk_on_a_screen(*arguments)
    shown = done.out + done.err
    assert "words" in shown or "body" in shown
    # In JSON the direction of writing is the text's own; a terminal obeys the controls.
    assert [char for char in shown if char in "\x1b\x07\x9b"] == []
    assert "\u202e" not in shown or "--json" in arguments


async def test_a_session_is_meant_by_its_id_by_the_beginning_of_it_or_as_the_last() -> None:
    async with inside(turn(Say("an answer")), turn(Say("b"))) as at:
        first = await said(at, "First", "hi")
        assert "\nan answer\n" in (await at.tk("sessions", "show", first.upper()[:9])).out
        last = await said(at, "Last", "ho")
        assert (await at.tk("sessions", "show", first)).out.startswith("# First\n")
        assert (await at.tk("sessions", "show", "last", "--json")).json()["session"]["id"] == last
        nobody = await at.tk("sessions", "show", "zzz")
        assert (nobody.code, nobody.err.count("\n")) == (1, 1)
        several = await at.tk("sessions", "show", first[:9])
        assert (several.code, "may be" in several.err, "(First)" in several.err) == (2, True, True)


async def test_a_session_is_renamed_and_deleted_only_when_somebody_is_sure() -> None:
    async with inside(turn(Say("ok"))) as at:
        session = await said(at, "Old", "hi")
        renamed = await at.tk("sessions", "rename", "last", "A", "new", "name", "--json")
        assert renamed.json()["title"] == "A new name"
        unsure = await at.tk("sessions", "delete", session)
        assert (unsure.code, "--yes" in unsure.err) == (2, True)
        assert len(await at.workspace.sessions.list()) == 1
        gone = await at.tk("sessions", "delete", session, "--yes", "--json")
        assert gone.json() == [{"id": session, "title": "A new name", "deleted": True}]
        assert await at.workspace.sessions.list() == []


async def test_a_fork_is_printed_by_its_id_and_goes_on_from_where_it_was_cut() -> None:
    async with inside(turn(Say("one")), turn(Say("two"))) as at:
        session = await said(at, "Talk", "first")
        run = await at.workspace.runs.submit(session, "second")
        await at.workspace.runs.wait(run)
        messages = await at.workspace.messages.list(session)
        forked = await at.tk("sessions", "fork", "last", "--upto", messages[1].id, "--title", "Short")
        copy = forked.out.strip()
        assert [one.text for one in await at.workspace.messages.list(copy)] == ["first", "one"]
        assert (await at.workspace.sessions.get(copy)).title == "Short"
        wrong = await at.tk("sessions", "fork", session, "--upto", "nothing")
        assert (wrong.code, "no message" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "begins"), [("talk.md", "# Talk\n"), ("talk.json", "{"), ("talk.html", "<!doctype html>")]
)
async def test_a_session_is_exported_as_the_file_is_called(name: str, begins: str, tmp_path: Path) -> None:
    async with inside(turn(Say("the answer"))) as at:
        await said(at, "Talk", "hi")
        done = await at.tk("sessions", "export", "last", "--output", str(tmp_path / name))
        assert done.err == f"Wrote {tmp_path / name}.\n"
        written = (tmp_path / name).read_text()
        assert written.startswith(begins)
        assert "the answer" in written
        assert (await at.tk("sessions", "export", "last")).out.startswith("# Talk\n")
        refused = await at.tk("sessions", "export", "last", "-o", str(tmp_path / "no" / "where"))
        assert refused.code == 2


async def test_what_was_said_is_found_and_finding_nothing_is_not_success() -> None:
    async with inside(turn(Say("The race is in the cache."))) as at:
        session = await said(at, "Debugging", "why?")
        found = await at.tk("sessions", "search", "CACHE", "race")
        assert (found.code, session[:8] in found.out, "assistant: The race is in the cache." in found.out) == (
            0,
            True,
            True,
        )
        assert (await at.tk("sessions", "search", "--json", "cache")).json()[0]["session_id"] == session
        nothing = await at.tk("sessions", "search", "elephant")
        assert (nothing.code, nothing.out) == (1, "")


async def test_how_far_tool_calls_got_is_told_in_words() -> None:
    async def act(call: Call, hands: Hands) -> str:
        await hands.begin("make clean")
        return "done"

    async with inside(turn(CallTool("c1", "act", {})), turn(Say("ok")), tools=[PlainTool("act", act)]) as at:
        session = await said(at, "Cleaning", "hi")
        _, told = (await at.tk("sessions", "effects", session)).out.splitlines()
        assert told.split()[-4:] == ["done", "act", "make", "clean"]
        assert (await at.tk("sessions", "effects", session, "--json")).json()[0]["subject"] == "make clean"


def test_every_way_a_call_can_have_gone_has_its_words() -> None:
    states = [(EffectState.INTENDED, 0), (EffectState.STARTED, 1), (EffectState.FINISHED, 1), (EffectState.FINISHED, 0)]
    effects = [
        Effect(ToolCallId("c"), SessionId("s"), RunId("r"), "bash", state, started_at=at) for state, at in states
    ]
    assert [how_far(one) for one in effects] == ["not begun", "begun, no end known", "done", "answered"]


async def test_importing_what_is_not_there_says_so() -> None:
    async with inside() as at:
        done = await at.tk("sessions", "import", "crush", str(Path(__file__)))
        assert (done.code, "there is no database" in done.err) == (1, True)
        assert (await at.tk("sessions", "import", "crush", "/no/such/file")).code == 2


async def test_why_tells_what_a_busy_session_waits_for_and_how_to_help() -> None:
    async def careful(call: Call, hands: Hands) -> str:
        await hands.permit(Asking("careful", "write", "change it", "/etc", "/etc"))
        return "changed"

    script = (turn(Hold("silent"), CallTool("c1", "careful")), turn(Say("done")))
    async with inside(*script, tools=[PlainTool("careful", careful)]) as at:
        idle = await at.tk("why")
        assert (idle.code, idle.err) == (0, "Every session is idle.\n")
        session = await at.workspace.sessions.create("At work")
        async with at.workspace.follow() as heard:
            await at.workspace.runs.submit(session.id, "change it", run_id="r1")
            model = at.server.front.model(at.cwd)
            await model.reached("silent")
            told = (await at.tk("why")).out
            assert "At work  busy for" in told
            assert "prompt change it" in told
            assert "waits for the model to begin: scripted/scripted" in told
            model.release("silent")
            request = await asked(heard)
            told = (await at.tk("why", "last")).out
            assert "waits for a permission: careful /etc, for" in told
            assert "left" in told
            assert "run --allow" in told
            (wait,) = (await at.tk("why", "last", "--json")).json()["waits"]
            assert (wait["kind"], wait["request_id"]) == ("permission", request.id)
            await at.workspace.permissions.answer(request, Decision(allowed=True))
            await at.workspace.runs.wait("r1")


async def asked(heard: Any) -> Any:
    with anyio.fail_after(10):
        async for one in heard:
            if getattr(getattr(one, "envelope", None), "kind", "") == "permission_request":
                return one.envelope.payload
    raise AssertionError


async def test_allowances_are_listed_revoked_and_what_was_decided_is_told() -> None:
    async def careful(call: Call, hands: Hands) -> str:
        await hands.permit(Asking("careful", "write", "change it", "/etc/hosts", "/etc/hosts"))
        return "changed"

    script = (turn(CallTool("c1", "careful")), turn(Say("done")))
    async with inside(*script, tools=[PlainTool("careful", careful)]) as at:
        assert (await at.tk("permissions")).err == "Nothing is allowed for longer than once.\n"
        session = await at.workspace.sessions.create()
        async with at.workspace.follow() as heard:
            await at.workspace.runs.submit(session.id, "go", run_id="r1")
            await at.workspace.permissions.answer(await asked(heard), Decision(allowed=True, scope="session"))
            await at.workspace.runs.wait("r1")
        heading, row = (await at.tk("permissions", "list")).out.splitlines()
        assert heading.split()[:2] == ["ID", "TOOL"]
        assert row.split()[1:4] == ["careful", "write", "session"]
        (grant,) = (await at.tk("permissions", "list", "--json")).json()
        (decided,) = (await at.tk("permissions", "audit", "--json")).json()
        assert (decided["tool"], decided["decision"], decided["scope"]) == ("careful", "allowed", "session")
        assert "allowed (session)" in (await at.tk("permissions", "audit")).out
        assert (await at.tk("permissions", "revoke")).code == 2
        assert (await at.tk("permissions", "revoke", "zzz")).code == 1
        assert (await at.tk("permissions", "revoke", grant["id"][:9])).err == "Took back 1 allowance.\n"
        assert (await at.tk("permissions", "list", "--json")).json() == []


async def test_no_job_is_no_error_and_an_unknown_one_is() -> None:
    async with inside() as at:
        assert (await at.tk("jobs")).err == "Nothing runs in the background.\n"
        assert (await at.tk("jobs", "list", "--json")).json() == []
        assert (await at.tk("jobs", "kill", "7")).code == 1


async def spent(at: Inside) -> None:
    for number in range(2):
        await said(at, f"Talk {number}", "hi")


async def test_what_was_spent_is_summed_drawn_and_told_to_programs(tmp_path: Path) -> None:
    used = Use(Usage(20_000, 300, cost=0.0))
    async with inside(turn(used, Say("a")), turn(used, Say("b"))) as at:
        assert (await at.tk("stats")).err == "Nothing has run here in the last 30 days.\n"
        await spent(at)
        told = (await at.tk("stats", "--days", "0")).out.splitlines()
        assert told[0] == "$0.04 for 2 runs in 2 sessions: 2 completed"
        assert told[1] == "40.0k tokens asked, 600 answered"
        assert any(line.endswith("█" * 40) for line in told)
        assert any(line.split()[:2] == ["scripted/scripted", "2"] for line in told)
        assert (await at.tk("stats", "--days", "0", "--json")).json()["total"]["runs"] == 2
        page = tmp_path / "stats.html"
        assert (await at.tk("stats", "--days", "0", "--html", str(page))).err == f"Wrote {page}.\n"
        written = page.read_text()
        assert "<b>$0.04</b>" in written
        assert "{{" not in written
        assert "<td>scripted/scripted</td><td>2</td>" in written
        assert "://" not in written


async def test_json_is_one_document_that_ends_with_its_line() -> None:
    async with inside() as at:
        for words in (
            ("sessions",),
            ("jobs", "list"),
            ("permissions", "list"),
            ("stats",),
            ("models", "list"),
            ("why",),
        ):
            done = await at.tk(*words, "--json")
            json.loads(done.out)
            assert (done.code, done.out.endswith("\n")) == (0, True)
