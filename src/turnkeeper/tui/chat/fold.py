"""The conversation a person sees, as a pure fold: from a view to items, and from what changed to the items that change.

    folded = fold(view, session_id)            all of it
    folded = fold(view, session_id, folded)    what differs since; one changed message remakes one message's items

Both give the same items, and what did not change is the same object as before.
"""

import operator
from collections.abc import Iterable, Mapping

import msgspec

from turnkeeper.client.conversation import Conversation
from turnkeeper.client.view import View
from turnkeeper.protocol.runs import RunState
from turnkeeper.tui.chat.around import Around
from turnkeeper.tui.chat.index import Index, indexed
from turnkeeper.tui.chat.items import Item, Said, Shell, Summary, Thought, Used, Working
from turnkeeper.tui.chat.parts import items_of, shell_key

NESTED_DEPTH_MAX = 4


class Folded(msgspec.Struct, frozen=True):
    items: tuple[Item, ...] = ()
    session_id: str = ""
    view: View = View()
    conversation: Conversation = Conversation()
    index: Index = Index()
    blocks: Mapping[str, tuple[Item, ...]] = {}
    """Each message's items."""
    places: Mapping[str, int] = {}
    """Where each message's items begin."""
    children: "Mapping[str, Folded]" = {}
    """By session what sub-agents do."""
    said: tuple[Item, ...] = ()
    """Those of them that stand in messages; behind them is what goes on beside."""


NOTHING = Folded()


def fold(view: View, session_id: str, before: Folded = NOTHING, *, depth: int = 0) -> Folded:
    if before.session_id != session_id:
        before = Folded(session_id=session_id)
    conversation = view.conversation(session_id)
    same = conversation.messages is before.conversation.messages
    index = before.index if same else indexed(conversation.messages)
    children = _children(view, index, before, depth)
    around = Around(view, conversation, index, children, session_id)
    made: dict[str, tuple[Item, ...]] = {}
    for id in dict.fromkeys(_changed(view, conversation, index, children, before)):
        known = before.blocks.get(id, ())
        now = _kept(known, items_of(conversation.now(id), around.of(id)))
        if len(now) != len(known) or any(one is not other for one, other in zip(now, known, strict=True)):
            made[id] = now
    blocks, places, said = _joined(before, made, conversation, same=same)
    going_on = (*_running(view, session_id), *_working(view, session_id, said))
    items = _unchanged((*said, *_kept(before.items[len(before.said) :], going_on)), before.items)
    return Folded(items, session_id, view, conversation, index, blocks, places, children, said)


def _joined(
    before: Folded, made: Mapping[str, tuple[Item, ...]], conversation: Conversation, *, same: bool
) -> tuple[Mapping[str, tuple[Item, ...]], Mapping[str, int], tuple[Item, ...]]:
    """Every message's items, where they begin, and all of them. Where only words came, the others are not looked at."""
    if same and not made:
        return before.blocks, before.places, before.said
    if same and all(len(made[id]) == len(before.blocks[id]) for id in made):
        changed = list(before.said)
        for id, block in made.items():
            changed[before.places[id] : before.places[id] + len(block)] = block
        return {**before.blocks, **made}, before.places, tuple(changed)
    blocks: dict[str, tuple[Item, ...]] = {}
    places: dict[str, int] = {}
    items: list[Item] = []
    known = before.blocks
    for id in conversation.messages:
        block = made[id] if id in made else known.get(id, ())
        blocks[id], places[id] = block, len(items)
        items += block
    return blocks, places, tuple(items)


def _unchanged(items: tuple[Item, ...], before: tuple[Item, ...]) -> tuple[Item, ...]:
    """The tuple from before, if all in it is the same: then nothing is to be drawn."""
    same = len(items) == len(before) and all(map(operator.is_, items, before))
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


def _kept(before: tuple[Item, ...], now: tuple[Item, ...]) -> tuple[Item, ...]:
    """What is equal to what was there stays the same object."""
    known = {item.key: item for item in before}
    return tuple(known[item.key] if known.get(item.key) == item else item for item in now)


def _running(view: View, session_id: str) -> Iterable[Item]:
    """The lines that people run beside the conversation. Each goes on as an item of the message that it becomes."""
    for line in view.running(session_id):
        word = "stopping" if line.stopping else "running"
        yield Shell(shell_key(line.id, 0), line.command, line.output, 0, line.by, line.since // 1000, word)


def _working(view: View, session_id: str, items: tuple[Item, ...]) -> Iterable[Item]:
    """Shown while nothing else shows that a run goes on, and while it is being stopped."""
    run = view.active(session_id)
    session = view.sessions.get(session_id)
    if run is None and not (session and session.is_busy):
        return
    stopping = run is not None and run.state == RunState.STOPPING.value
    what = _doing(items)
    if what or stopping:
        yield Working("working", what, stopping)


def _doing(items: tuple[Item, ...]) -> str:
    """What the run is at, where no item shows it."""
    for item in reversed(items):
        match item:
            case Used(standing=standing) if standing.is_going_on:
                return ""
            case Said(writing=True) | Thought(thinking=True) | Summary(writing=True):
                return ""
            case Used() | Shell():
                # Its step may hold other calls, and a person's own line is no part of the run at all.
                continue
            case _:
                break
    return "waiting for the model"
