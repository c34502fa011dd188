"""What must be true of a workspace after any crash, once it was recovered and everybody in line has had a turn.

`survived` believes nothing but what can be read: the log, through the ledger of the simulation, which was written from
what was promised; and the views, beside what was acknowledged before the crash.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import anyio
from msgspec.structs import replace

from tests.simulation.ledger import Ledger, hold
from tests.store.replaying import views_equal_replay, whole_log
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.ids import WORKSPACE, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Role
from turnkeeper.protocol.runs import Outcome, RunKind, RunState
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.sqlite import open_store
from turnkeeper.store.store import Store

QUIET_SECONDS_MAX = 20


async def survived(workspace: Workspace, acknowledged: Mapping[RunId, str]) -> list[Entry]:
    """Wait until nothing is left to do, then look at everything; `acknowledged` are the prompts that were answered."""
    store = workspace.means.store
    with anyio.fail_after(QUIET_SECONDS_MAX):
        for run in await store.runs(limit=100_000):
            await workspace.ended(run.id)
    return await whole(store, acknowledged)


async def whole(store: Store, acknowledged: Mapping[RunId, str]) -> list[Entry]:
    """The same, of a store in which nothing is at work any more."""
    hold("nothing waits, works, asks or is unfinished", await store.unsettled() == [])
    entries = await whole_log(store)
    hold("no position is missing", [entry.position for entry in entries] == list(range(1, len(entries) + 1)))
    read_by_the_ledger(entries)
    for run_id, text in acknowledged.items():
        run = await store.run(run_id)
        hold(f"{run_id}, which was acknowledged, is there", run)
        assert run is not None
        hold(f"{run_id} says what was submitted", run.prompt.text == text)
        hold(f"{run_id} has ended", run.state is RunState.ENDED)
    for session in {entry.session_id for entry in entries} - {WORKSPACE}:
        conversation = await store.messages(session)
        finished(conversation)
        heard(conversation, entries, session)
    await views_equal_replay(store)
    return entries


def read_by_the_ledger(entries: list[Entry]) -> None:
    """In order, one at a time, and each ending once; a log does not tell who was cancelled by whom."""
    ledgers: dict[SessionId, Ledger] = {}
    for entry in entries:
        ledger = ledgers.get(entry.session_id, Ledger())
        ledgers[entry.session_id] = replace(ledger, doomed=frozenset(ledger.alive)).after(entry.event)
    for ledger in ledgers.values():
        hold("every run that was accepted has ended", set(ledger.endings) == set(ledger.accepted))
        hold("nothing is asked any more", not ledger.pending)


def finished(conversation: list[Message]) -> None:
    calls: Counter[ToolCallId] = Counter()
    results: Counter[ToolCallId] = Counter()
    for message in conversation:
        hold(f"message {message.id} has its ending", message.role is not Role.ASSISTANT or message.finish)
        hold("an ending is the last part", message.finish in (None, *message.parts[-1:]))
        calls.update(call.id for call in message.tool_calls if not call.provider_executed)
        hold("every call was closed", all(call.finished for call in message.tool_calls))
        results.update(result.tool_call_id for result in message.tool_results)
    hold("every call has its result, and only one", calls == results and set(calls.values()) <= {1})


def heard(conversation: list[Message], entries: list[Entry], session: SessionId) -> None:
    """What was started or folded was said, in that order; nothing else was said by people. A summary asks nothing."""
    here = [entry.event for entry in entries if entry.session_id == session]
    asked = {event.run_id for event in here if isinstance(event, e.RunAccepted) and event.run_kind is RunKind.PROMPT}
    began = [event.run_id for event in here if isinstance(event, e.RunStarted | e.RunFolded) and event.run_id in asked]
    hold("every prompt that had its turn was heard", [m.run_id for m in conversation if m.role is Role.USER] == began)


def endings(entries: list[Entry]) -> dict[RunId, Outcome]:
    return {entry.event.run_id: entry.event.outcome for entry in entries if isinstance(entry.event, e.RunComplete)}


async def copied(store: Store) -> MemoryStore:
    """The same log and what was written behind, in a store of its own."""
    copy = MemoryStore()
    entries = await whole_log(store)
    copy.put_back(entries)
    for session in {entry.session_id for entry in entries}:
        await copy.write_behind(await store.pieces(session))
    return copy


async def looked_at(directory: Path, acknowledged: Mapping[RunId, str]) -> list[Entry]:
    async with open_store(directory) as store:
        hold("the database is whole", store.notice == "")
        return await whole(store, acknowledged)
