"""The conversation a person sees, as a pure fold: from a view to items, and from what changed to the items that change.

    folded = fold(view, session_id)            all of it
    folded = fold(view, session_id, folded)    what differs since; one changed message remakes one message's items

Both give the same items, and what did not change is the same object as before.
"""

from collections.abc import Iterable, Mapping

import msgspec

from turnkeeper.client.conversation import Conversation, Spot
from turnkeeper.client.rope import Rope
from turnkeeper.client.view import View
from turnkeeper.protocol.messages import PartKind
from turnkeeper.protocol.runs import RunState
from turnkeeper.tui.chat.calls import waiting_in
from turnkeeper.tui.chat.index import Index, indexed
from turnkeeper.tui.chat.items import Item, Said, Standing, Summary, Thought, Used, Working
from turnkeeper.tui.chat.parts import Surroundings, items_of

NESTED_DEPTH_MAX = 4

Drafts = Mapping[Spot, Rope]


class Folded(msgspec.Struct, frozen=True):
    items: tuple[Item, ...] = ()
    session_id: str = ""
    view: View = View()
    conversation: Conversation = Conversation()
    index: Index = Index()
    blocks: Mapping[str, tuple[Item, ...]] = {}
    """Each message's items."""
    children: "Mapping[str, Folded]" = {}
    """By session what sub-agents do."""


NOTHING = Folded()


def fold(view: View, session_id: str, before: Folded = NOTHING, *, depth: int = 0) -> Folded:
    if before.session_id != session_id:
        before = Folded(session_id=session_id)
    conversation = view.conversation(session_id)
    same = conversation.messages is before.conversation.messages
    index = before.index if same else indexed(conversation.messages)
    children = _children(view, index, before, depth)
    blocks = dict(before.blocks) if same else {id: before.blocks.get(id, ()) for id in conversation.messages}
    waiting = waiting_in(view, session_id)
    for id in dict.fromkeys(_changed(view, conversation, index, children, before)):
        around = _around(view, conversation, index, children, waiting, session_id, id)
        blocks[id] = _kept(blocks[id], items_of(conversation.now(id), around))
    items = [item for block in blocks.values() for item in block]
    if working := _working(view, session_id, items):
        items.append(_same(working, before.items))
    return Folded(_unchanged(tuple(items), before.items), session_id, view, conversation, index, blocks, children)


def _same(item: Item, before: tuple[Item, ...]) -> Item:
    return before[-1] if before and before[-1] == item else item


def _unchanged(items: tuple[Item, ...], before: tuple[Item, ...]) -> tuple[Item, ...]:
    same = len(items) == len(before) and all(now is then for now, then in zip(items, before, strict=True))
    return before if same else items


def _changed(
    view: View, conversation: Conversation, index: Index, children: Mapping[str, Folded], before: Folded
) -> Iterable[str]:
    """The messages whose items may be others than they were. Some may turn out to be the same."""
    yield from index.differing(before.index)
    if index is not before.index:
        yield from (id for id in before.index.turn(before.index.last).messages if id in index.messages)
    yield from _written(conversation, before.conversation)
    if view.runs is not before.view.runs:
        for run_id in {*view.runs, *before.view.runs}:
            if view.runs.get(run_id) is not before.view.runs.get(run_id):
                yield from index.of_run(run_id)
    if view.sessions.get(before.session_id) is not before.view.sessions.get(before.session_id):
        yield from index.turn(index.last).messages
    if any(now is not then for now, then in zip(_asked(view), _asked(before.view), strict=True)):
        yield from index.turn(index.last).messages
        for run in view.runs.values():
            yield from index.of_run(run.run_id) if run.session_id == before.session_id and not run.has_ended else ()
    for child, folded in children.items():
        if before.children.get(child) is not folded:
            yield child.partition("$$")[0]


def _written(now: Conversation, before: Conversation) -> Iterable[str]:
    """The messages in which something else is being written."""
    if now.drafts is before.drafts:
        return
    for spot in {*now.drafts, *before.drafts}:
        if now.drafts.get(spot) is not before.drafts.get(spot) and spot.message_id in now.messages:
            yield spot.message_id


def _asked(view: View) -> tuple[object, ...]:
    return (view.permissions, view.questions, view.settled)


def _children(view: View, index: Index, before: Folded, depth: int) -> dict[str, Folded]:
    """What is known of the sessions that calls of this one began; theirs are named after the message and the call."""
    found: dict[str, Folded] = {}
    if depth >= NESTED_DEPTH_MAX:
        return found
    for child in view.conversations:
        if "$$" not in child or child.partition("$$")[0] not in index.messages:
            continue
        known = before.children.get(child, NOTHING)
        now = fold(view, child, known, depth=depth + 1)
        found[child] = known if now.items == known.items and known is not NOTHING else now
    return found


def _around(
    view: View,
    conversation: Conversation,
    index: Index,
    children: Mapping[str, Folded],
    waiting: Mapping[str, Standing],
    session_id: str,
    message_id: str,
) -> Surroundings:
    turn = index.turn(message_id)
    run = view.runs.get(turn.run_id)
    session = view.sessions.get(session_id)
    if run is not None:
        goes_on = not run.has_ended and run.state != RunState.QUEUED.value
    else:
        is_latest = index.last in turn.messages
        goes_on = bool(session and session.is_busy) and is_latest and not turn.run_id
    known = {call: settled.by for settled in view.settled.values() if (call := settled.tool_call_id)}
    return Surroundings(
        run=run,
        turn=turn,
        goes_on=goes_on,
        results=index.results.get(message_id, {}),
        waiting=waiting,
        questions={asked.tool_call_id: asked for asked in view.questions.values() if asked.session_id == session_id},
        answered_by=known,
        written=frozenset(
            spot.part
            for spot in conversation.drafts
            if spot.message_id == message_id and spot.kind is not PartKind.OUTPUT
        ),
        outputs={
            spot.part: rope.text
            for spot, rope in conversation.drafts.items()
            if spot.message_id == message_id and spot.kind is PartKind.OUTPUT
        },
        children={id: _uses(child.items) for id, child in children.items()},
    )


def _uses(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(item for item in items if isinstance(item, Used))


def _kept(before: tuple[Item, ...], now: tuple[Item, ...]) -> tuple[Item, ...]:
    """What is equal to what was there stays the same object."""
    known = {item.key: item for item in before}
    return tuple(known[item.key] if known.get(item.key) == item else item for item in now)


def _working(view: View, session_id: str, items: list[Item]) -> Working | None:
    """Shown while nothing else shows that a run goes on, and while it is being stopped."""
    run = view.active(session_id)
    session = view.sessions.get(session_id)
    if run is None and not (session and session.is_busy):
        return None
    stopping = run is not None and run.state == RunState.STOPPING.value
    what = _doing(items)
    return Working("working", what, stopping) if what or stopping else None


def _doing(items: list[Item]) -> str:
    """What the run is at, where no item shows it."""
    match items[-1] if items else None:
        case Used(standing=standing) if standing.is_going_on:
            return ""
        case Said(writing=True) | Thought(thinking=True) | Summary(writing=True):
            return ""
        case _:
            return "waiting for the model"
