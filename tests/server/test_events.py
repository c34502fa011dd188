"""The event stream, byte for byte: what an old client reads as it always did, and what a new one can ask for."""

import math
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio import fail_after

from tests.server.moments import ASKING, QUESTIONING, Gate, Moment, hands, standing
from tests.server.plain import Connection, Served, Watching, ask, connect, request, served, watch
from turnkeeper.core.claims import Policy
from turnkeeper.engine.feed import Given
from turnkeeper.models.model import Question
from turnkeeper.models.scripted import CallTool, Hold, Say, ScriptedModel, Think, Turn, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.problems import StoreUnavailable
from turnkeeper.protocol.wire import frame
from turnkeeper.server import telling
from turnkeeper.server.chorus import chorus_of
from turnkeeper.server.telling import WHOLE_MESSAGE_SECONDS, Detail, Teller
from turnkeeper.testing.front import front

A = "0b7a3c1e-7d4a-4c1c-9a51-0c1d1f0d9e11"
SESSION = (
    b'{"id":"id-1","parent_session_id":"","title":"named","message_count":%d,"prompt_tokens":%d,'
    b'"completion_tokens":%d,"summary_message_id":"","cost":0,"created_at":1700000000,"updated_at":1700000000,'
    b'"is_busy":false,"attached_clients":0}'
)
USER = (
    b'{"parts":[{"type":"text","data":{"text":"go"}},{"type":"finish","data":{"reason":"stop","time":0}}],'
    b'"id":"id-2","role":"user","session_id":"id-1","model":"","provider":"","created_at":1700000000,'
    b'"updated_at":1700000000%b}'
)
ANSWER = (
    b'{"parts":%b,"id":"id-3","role":"assistant","session_id":"id-1","model":"scripted","provider":"scripted",'
    b'"created_at":1700000000,"updated_at":1700000000%b}'
)
PARTS = (
    b'[{"type":"reasoning","data":{"thinking":"hm","signature":"","started_at":1700000000,"finished_at":1700000000}},'
    b'{"type":"text","data":{"text":"a < b"}},{"type":"finish","data":{"reason":"end_turn","time":1700000000}}]'
)
FINISHED = (
    b'{"type":"agent_finished","message":{"parts":[],"id":"","role":"","session_id":"","model":"","provider":"",'
    b'"created_at":0,"updated_at":0},"session_id":"id-1","session_title":"named"}'
)


def line(kind: bytes, type: bytes, payload: bytes, id: int | None = None) -> bytes:
    head = b"" if id is None else b"id: %d\n" % id
    return head + b'data: {"type":"%b","payload":{"type":"%b","payload":%b}}\n\n' % (kind, type, payload)


@asynccontextmanager
async def watched(*turns: Turn, query: str = "", **more: Any) -> AsyncGenerator[tuple[Served, str, Watching]]:
    async with served(*turns, **more) as door:
        answer = await door.post("/v1/workspaces", {"path": "/front", "client_id": A})
        here = f"/v1/workspaces/{answer.json()['id']}"
        async with watch(door.socket, f"{here}/events?client_id={A}{query}") as stream:
            yield door, here, stream


def plainly(raw: bytes, here: str) -> bytes:
    """What is minted carries the workspace's name, which is another one every time."""
    return without_presence(raw).replace(here.removeprefix("/v1/workspaces/").encode() + b"-", b"id-")


def without_presence(raw: bytes) -> bytes:
    """Who is there is told beside everything else, in no order to it."""
    return re.sub(rb'data: {"type":"presence",.*\n\n', b"", raw)


async def begun(door: Served, here: str) -> str:
    return (await door.post(f"{here}/sessions", {"title": "named"})).json()["id"]


def prompt(session: str, run_id: str = "r1", text: str = "go") -> dict[str, str]:
    return {"session_id": session, "prompt": text, "run_id": run_id}


async def test_the_head_of_a_stream_comes_before_any_event_and_is_the_originals() -> None:
    with fail_after(5):
        async with watched() as (_, _, stream):
            headers = dict(stream.headers)
    assert stream.line_ == "HTTP/1.1 200 OK"
    del headers["date"]
    assert headers == {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        "connection": "keep-alive",
        "transfer-encoding": "chunked",
    }


async def test_who_asks_only_for_the_head_of_a_stream_gets_it_and_opens_none() -> None:
    with fail_after(5):
        async with watched() as (door, here, _), await connect(door.socket) as line:
            for target in (f"{here}/events?client_id={A}", f"{here}/sessions"):
                await line.send(request("HEAD", target))
                answer = await Connection(line).answer(has_body=False)
                assert answer.status == 200
            streams = door.house.reception.streams
    assert streams == 1


async def test_a_whole_run_has_exactly_these_bytes() -> None:
    with fail_after(5):
        async with served(turn(Think("hm"), Say("a < b"))) as door:
            answer = await door.post("/v1/workspaces", {"path": "/front", "client_id": A})
            here = f"/v1/workspaces/{answer.json()['id']}"
            session = await begun(door, here)
            await door.post(f"{here}/agent", prompt(session))
            await door.get(f"{here}/runs/r1/wait")
            # Told afterwards, it is told in one piece, and so the same every time.
            async with watch(door.socket, f"{here}/events?client_id={A}&after=0") as stream:
                await stream.next("run_complete")
    ending = b'{"session_id":"id-1","run_id":"r1","message_id":"id-3","text":"a < b"}'
    assert plainly(stream.raw, here) == b"".join(
        [
            line(b"session", b"created", SESSION % (2, 9, 3), 1),
            line(b"session", b"updated", SESSION % (2, 9, 3), 2),
            line(b"message", b"created", USER % b"", 5),
            line(b"message", b"created", ANSWER % (b"[]", b""), 6),
            line(b"message", b"updated", ANSWER % (PARTS, b""), 9),
            line(b"session", b"updated", SESSION % (2, 9, 3), 10),
            line(b"agent_event", b"created", FINISHED),
            line(b"run_complete", b"updated", ending, 11),
        ]
    )


async def test_a_client_that_asks_for_it_is_told_every_turn_of_a_run_in_fragments_and_finished_parts() -> None:
    with fail_after(5):
        async with watched(turn(Say("a < b", characters=3), Hold("here")), query="&detail=delta") as (
            door,
            here,
            stream,
        ):
            session = await begun(door, here)
            await door.post(f"{here}/agent", prompt(session))
            await door.house.model().reached("here")
            text = ""
            while text != "a < b":
                delta = await stream.next("delta")
                assert (delta["index"], delta["part"], delta["offset"]) == (0, "text", len(text))
                text += delta["text"]
            before = stream.raw
            door.house.model().release("here")
            await stream.next("run_complete")
    first = b"".join(
        [
            line(b"session", b"created", SESSION % (0, 0, 0), 1),
            line(b"session", b"updated", SESSION % (0, 0, 0), 2),
            line(
                b"run_accepted",
                b"updated",
                b'{"session_id":"id-1","run_id":"r1","prompt":"go","kind":"prompt","user_message_id":"id-2",'
                b'"at":1700000000003}',
                3,
            ),
            line(b"run_started", b"updated", b'{"session_id":"id-1","run_id":"r1"}', 4),
            line(b"message", b"created", USER % b',"run_id":"r1"', 5),
            line(b"message", b"created", ANSWER % (b"[]", b',"run_id":"r1"'), 6),
        ]
    )
    before, whole = plainly(before, here), plainly(stream.raw, here)
    assert before.startswith(first)
    said = b'{"session_id":"id-1","message_id":"id-3","index":%d,"part":%b,"at":%d}'
    last = b"".join(
        [
            line(b"session", b"updated", SESSION % (2, 9, 2), 9),
            line(b"agent_event", b"created", FINISHED),
            line(
                b"run_complete",
                b"updated",
                b'{"session_id":"id-1","run_id":"r1","message_id":"id-3","text":"a < b","outcome":"completed",'
                b'"usage":{"input_tokens":9,"output_tokens":2,"cost":0.0,"estimated":true},"steps":1}',
                10,
            ),
        ]
    )
    rest = whole.removeprefix(before)
    assert rest.endswith(last)
    told = [heard for heard in stream.seen if heard.kind == "part_said"]
    assert [(heard.id, heard.payload["index"], heard.payload["part"]["type"]) for heard in told] == [
        (7, 0, "text"),
        (8, 1, "finish"),
    ]
    assert said % (0, b'{"type":"text","data":{"text":"a < b"}}', told[0].payload["at"]) in rest


async def test_a_heartbeat_is_a_blank_line_that_no_reader_notices() -> None:
    with fail_after(5):
        async with watched(heartbeat_seconds=0.001) as (door, here, stream):
            beats = [await stream.chunk() for _ in range(3)]
            session = await begun(door, here)
            heard = await stream.next("session")
    assert beats == [b"\n"] * 3
    assert heard["id"] == session


async def test_a_streamed_message_is_told_whole_at_most_once_a_tick_and_ends_as_it_is() -> None:
    letters = "abcdefgh" * 100
    with fail_after(30):
        async with watched(turn(Say(letters, characters=1))) as (door, here, stream):
            session = await begun(door, here)
            began = anyio.current_time()
            await door.post(f"{here}/agent", prompt(session))
            await stream.next("run_complete")
            took = anyio.current_time() - began
    updates = [heard.payload for heard in stream.seen if heard.kind == "message" and heard.type == "updated"]
    texts = [update["parts"][0]["data"]["text"] for update in updates]
    # Each tick shows it once; its end and its finish are told besides.
    assert len(updates) <= math.ceil(took / WHOLE_MESSAGE_SECONDS) + 2
    assert texts == sorted(texts, key=len)
    assert all(letters.startswith(text) for text in texts)
    assert updates[-1]["parts"] == [
        {"type": "text", "data": {"text": letters}},
        {"type": "finish", "data": {"reason": "end_turn", "time": 1700000000}},
    ]


async def test_a_reader_that_comes_in_the_middle_sees_the_message_grow_and_end() -> None:
    with fail_after(5):
        async with watched(turn(Say("one "), Hold("here"), Say("two "), Hold("there"), Say("three"))) as (
            door,
            here,
            first,
        ):
            session = await begun(door, here)
            await door.post(f"{here}/agent", prompt(session))
            await door.house.model().reached("here")
            async with watch(door.socket, f"{here}/events?client_id={A}") as late:
                door.house.model().release("here")
                grown = await late.next("message")
                door.house.model().release("there")
                ending = await late.next("run_complete")
            await first.next("run_complete")
    assert grown["parts"] == [{"type": "text", "data": {"text": "one two "}}]
    assert ending["text"] == "one two three"
    last = [heard.payload for heard in late.seen if heard.kind == "message"][-1]
    assert [part["data"].get("text", part["data"].get("reason")) for part in last["parts"]] == [
        "one two three",
        "end_turn",
    ]


async def test_an_ending_comes_after_the_last_message_of_its_run_and_before_the_next_run_asks() -> None:
    known: list[list[str]] = []

    class Listening(ScriptedModel):
        """Notes, whenever it is asked, which runs are known to have ended."""

        async def stream(self, question: Question) -> AsyncGenerator[Any, None]:
            room = house.reception.rooms()[0]
            entries = room.workspace.tail.after(room.workspace.tail.start, 1000) or ()
            known.append([entry.event.run_id for entry in entries if isinstance(entry.event, e.RunComplete)])
            async for chunk in super().stream(question):
                yield chunk

    with fail_after(5):
        model = Listening([turn(Hold("here"), Say("one")), turn(Say("two")), turn(Say("three"))])
        async with front(large=model) as house:
            client = await house.client()
            session = await client.session("named")
            async with client.events() as events:
                for run_id in ("r1", "r2", "r3"):
                    await client.prompt(session, run_id, run_id)
                await model.reached("here")
                model.release("here")
                await events.next("run_complete", run_id="r3")
    assert known == [[], ["r1"], ["r1", "r2"]]
    told = [(heard.kind, heard.payload) for heard in events.seen if heard.kind in ("message", "run_complete")]
    for ending in [payload for kind, payload in told if kind == "run_complete"]:
        place = next(at for at, (kind, one) in enumerate(told) if kind == "run_complete" and one == ending)
        before = next(one for kind, one in reversed(told[:place]) if kind == "message" and one["role"] == "assistant")
        assert (before["id"], before["parts"][-1]["data"]["reason"]) == (ending["message_id"], "end_turn")
        later = [one for kind, one in told[place:] if kind == "message" and one["id"] == ending["message_id"]]
        assert later == []


@pytest.mark.parametrize("detail", ["", "delta"])
@pytest.mark.parametrize("moment", [ASKING, QUESTIONING], ids=str)
async def test_who_comes_late_is_asked_what_still_waits_for_an_answer_once(moment: Moment, detail: str) -> None:
    kind = "permission_request" if moment is ASKING else "question_batch_request"
    with fail_after(5):
        async with standing(moment) as scene:
            late = await scene.house.client()
            async with late.events(detail=detail) as events:
                first = await events.any()
                asked = first.payload if first.kind == kind else await events.next(kind)
                await scene.go_on()
                await events.next("run_complete")
            async with late.events() as after:
                await scene.client.session("another")
                heard = await after.any()
    assert [one.kind for one in events.seen].count(kind) == 1
    assert asked["tool_call_id"] == "c1"
    assert [one.id for one in events.seen if one.kind == kind] == [None]
    assert heard.kind == "session"


@pytest.mark.parametrize("detail", ["", "&detail=delta"])
async def test_what_is_told_is_encoded_once_for_everybody(monkeypatch: pytest.MonkeyPatch, detail: str) -> None:
    made: list[bytes] = []

    def counted(line: bytes, *, position: int | None = None) -> bytes:
        made.append(frame(line, position=position))
        return made[-1]

    with fail_after(10):
        async with (
            watched(turn(Say("a < b", characters=1)), query=detail) as (door, here, first),
            AsyncExitStack() as s,
        ):
            more = [watch(door.socket, f"{here}/events?client_id={A}{detail}") for _ in range(20)]
            watching = [first, *[await s.enter_async_context(stream) for stream in more]]
            session = await begun(door, here)
            # Whoever has been told something stands where the others stand.
            for stream in watching:
                await stream.next("session", id=session)
                stream.raw = b""
            monkeypatch.setattr(telling, "frame", counted)
            await door.post(f"{here}/agent", prompt(session))
            for stream in watching:
                await stream.next("run_complete")
    assert [log_lines(stream.raw) for stream in watching] == [log_lines(b"".join(made))] * 21


def log_lines(raw: bytes) -> list[bytes]:
    """What the log says. Who is there is told beside it, at its own time."""
    return [block for block in raw.split(b"\n\n") if block and b'"type":"presence"' not in block]


async def test_who_does_not_take_what_all_are_told_reads_on_by_itself_and_falls_into_step_again() -> None:
    with fail_after(20):
        async with watched() as (door, here, quick), watch(door.socket, f"{here}/events?client_id={A}") as slow:
            session = await begun(door, here)
            # Together more than a socket holds for who does not read it.
            titles = [f"{number} " + "x" * 20_000 for number in range(200)]
            for title in titles:
                answer = await ask(door.socket, "PUT", f"{here}/sessions/{session}", {"id": session, "title": title})
                assert answer.status == 200
                await quick.next("session", title=title)
            (room,) = door.house.reception.rooms()
            chorus = chorus_of(room.workspace, Detail.WHOLE)
            in_step = [chorus.size]
            await slow.next("session", title=titles[-1])
            await begun(door, here)
            for stream in (quick, slow):
                await stream.next("session", title="named", message_count=0)
            in_step.append(chorus.size)
    assert in_step == [1, 2]
    assert [heard.id for heard in slow.seen] == [heard.id for heard in quick.seen]


async def test_what_goes_wrong_in_telling_all_at_once_costs_nobody_a_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    left = 1

    async def said(teller: Teller, given: Given) -> bytes:
        nonlocal left
        if left:
            left -= 1
            raise StoreUnavailable
        return await whole(teller, given)

    with fail_after(10):
        async with watched() as (door, here, first), watch(door.socket, f"{here}/events?client_id={A}") as second:
            both = (first, second)
            for number, title in enumerate(("one", "two", "three"), start=1):
                if title == "two":
                    whole = Teller.said
                    monkeypatch.setattr(Teller, "said", said)
                await door.post(f"{here}/sessions", {"title": title})
                for stream in both:
                    while len(stream.seen) < 2 * number:
                        await stream.event()
            (room,) = door.house.reception.rooms()
            in_step = chorus_of(room.workspace, Detail.WHOLE).size
    assert (left, in_step) == (0, 2)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        "telling all at once failed"
    ]
    # Each session was created, and named.
    assert [[heard.id for heard in stream.seen] for stream in both] == [[1, 2, 3, 4, 5, 6]] * 2


async def test_a_stream_ends_with_its_terminating_chunk_when_its_workspace_closes() -> None:
    with fail_after(5):
        async with watched(turn(Hold("for ever")), policy=Policy(runs_keep_open=False)) as (door, here, stream):
            session = await begun(door, here)
            await door.post(f"{here}/agent", prompt(session))
            await door.house.model().reached("for ever")
            door.house.reception.leaving.set()
            heard = await stream.until_end()
            await door.left.wait()
            gone = not door.socket.exists()
    # The reader stood at the terminating chunk: the body was whole, and its run had ended in it.
    assert [one.payload["run_id"] for one in heard if one.kind == "run_complete"] == ["r1"]
    assert gone


async def test_the_fragments_of_a_tool_call_and_of_its_output_reach_those_who_ask_for_detail() -> None:
    gate = Gate()
    gate.opened.set()
    with fail_after(5):
        async with watched(
            turn(CallTool("c1", "hand", {"a": 1}, characters=3)),
            turn(Say("done")),
            tools=hands(gate),
            query="&detail=delta",
        ) as (door, here, stream):
            session = await begun(door, here)
            await door.post(f"{here}/agent", prompt(session))
            await stream.next("run_complete")
    inputs = [one.payload for one in stream.seen if one.kind == "delta" and one.payload["part"] == "input"]
    assert "".join(one["text"] for one in inputs) == '{"a":1}'
    assert [one["offset"] for one in inputs] == [sum(len(x["text"]) for x in inputs[:at]) for at in range(len(inputs))]
