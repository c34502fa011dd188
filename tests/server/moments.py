"""Where a run can stand when something happens to it: scenes that are held there for as long as a test likes.

async with standing(STREAMING) as scene:
    ...                              # the run stands in the middle of its answer
    await scene.go_on()              # and goes on from there
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from turnkeeper.engine.means import HookVerdict
from turnkeeper.models.scripted import CallTool, Hold, Say, Turn, turn
from turnkeeper.protocol.requests import Question, QuestionType
from turnkeeper.testing.bridge import Events
from turnkeeper.testing.front import Client, Front, front
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Answer, Asking, Call, Hands


@dataclass
class Gate:
    """A place where somebody stands until let through."""

    reached: anyio.Event = field(default_factory=anyio.Event)
    opened: anyio.Event = field(default_factory=anyio.Event)

    async def stand(self) -> None:
        self.reached.set()
        await self.opened.wait()


@dataclass
class HeldHooks:
    """Hooks that hold every prompt before the model hears of it."""

    gate: Gate

    async def prompt_submitted(self, prompt: str, *, session_id: str, first: bool) -> HookVerdict:
        await self.gate.stand()
        return HookVerdict()

    async def before_tool(self, call: Call, *, session_id: str) -> HookVerdict:
        return HookVerdict()

    async def after_tool(self, call: Call, answer: Answer, *, session_id: str) -> HookVerdict:
        return HookVerdict()

    async def happened(self, event: str, payload: Mapping[str, object]) -> None:
        return None


@dataclass
class Scene:
    """A server with a run that stands somewhere, and a client that watches it."""

    moment: "Moment"
    house: Front
    client: Client
    session: str
    events: Events
    gate: Gate

    async def go_on(self) -> None:
        await self.moment.go_on(self)

    async def post(self, rest: str, body: Any = None) -> Any:
        return await self.client.http.post(self.client.path(rest), body)

    async def run(self, run_id: str = "r1") -> Any:
        """The run as the server shows it, when it has ended."""
        return (await self.client.http.get(self.client.path(f"/runs/{run_id}/wait?timeout=5"))).json()


Step = Callable[[Scene], Awaitable[None]]


async def reach_model(scene: Scene) -> None:
    await scene.house.model().reached("here")


async def release_model(scene: Scene) -> None:
    scene.house.model().release("here")


async def reach_gate(scene: Scene) -> None:
    await scene.gate.reached.wait()


async def open_gate(scene: Scene) -> None:
    scene.gate.opened.set()


async def reach_permission(scene: Scene) -> None:
    await scene.events.next("permission_request")


async def allow(scene: Scene) -> None:
    asked = next(heard.payload for heard in reversed(scene.events.seen) if heard.kind == "permission_request")
    await scene.post("/permissions/grant", {"permission": asked, "action": "allow"})


async def reach_question(scene: Scene) -> None:
    await scene.events.next("question_batch_request")


async def say_yes(scene: Scene) -> None:
    await scene.post("/questions/answer", {"responses": [{"request_id": "q", "yes": True}]})


@dataclass(frozen=True)
class Moment:
    name: str
    turns: Sequence[Turn]
    reach: Step
    go_on: Step
    said: tuple[str, ...] = ()
    """What has been said when it stands there: a word for each part."""
    asks: bool = False
    """Whether a person is asked something."""

    def __str__(self) -> str:
        return self.name


USES = (turn(CallTool("c1", "hand", {})), turn(Say("done")))
BEFORE = Moment("before the first message", (turn(Say("done")),), reach_gate, open_gate)
SILENT = Moment("before the first word", (turn(Hold("here"), Say("done")),), reach_model, release_model)
STREAMING = Moment(
    "in the middle of the answer", (turn(Say("do"), Hold("here"), Say("ne")),), reach_model, release_model, ("do",)
)
CALLING = Moment(
    "between a call and the end of the answer",
    (turn(CallTool("c1", "free", {}), Hold("here")), turn(Say("done"))),
    reach_model,
    release_model,
    ("call c1",),
)
USING = Moment("while a tool is used", USES, reach_gate, open_gate, ("call c1",))
ASKING = Moment(
    "waiting for permission",
    (turn(CallTool("c1", "careful", {})), turn(Say("done"))),
    reach_permission,
    allow,
    ("call c1",),
    asks=True,
)
QUESTIONING = Moment(
    "waiting for an answer",
    (turn(CallTool("c1", "curious", {})), turn(Say("done"))),
    reach_question,
    say_yes,
    ("call c1",),
    asks=True,
)
MOMENTS = (BEFORE, SILENT, STREAMING, CALLING, USING, ASKING, QUESTIONING)


def hands(gate: Gate) -> list[PlainTool]:
    async def hand(call: Call, lent: Hands) -> str:
        await gate.stand()
        return "used"

    async def free(call: Call, lent: Hands) -> str:
        return "used"

    async def careful(call: Call, lent: Hands) -> str:
        await lent.permit(Asking("careful", "execute", "may I?", "/p", "subject", {"n": 1}))
        return "used"

    async def curious(call: Call, lent: Hands) -> str:
        answers = await lent.question([Question("q", QuestionType.YES_NO, "Really?", description="Tell.")])
        return "nobody said" if answers.cancelled else f"said {answers.responses[0].yes}"

    named = {"hand": hand, "free": free, "careful": careful, "curious": curious}
    return [PlainTool(name, does) for name, does in named.items()]


@asynccontextmanager
async def standing(moment: Moment, **more: Any) -> AsyncGenerator[Scene]:
    """A run `r1` of a first client, standing there."""
    gate = Gate()
    hooks = HeldHooks(gate) if moment is BEFORE else None
    async with front(*moment.turns, tools=hands(gate), hooks=hooks, **more) as house:
        client = await house.client()
        session = await client.session("named")
        async with client.events() as events:
            scene = Scene(moment, house, client, session, events, gate)
            assert (await client.prompt(session, "go", "r1")).status == 202
            await moment.reach(scene)
            yield scene


def told(message: Any) -> tuple[str, ...]:
    """A message in a few words: who says it, what, and how it ends."""
    return (message["role"], *(word(part["type"], part["data"]) for part in message["parts"]))


def word(kind: str, data: Any) -> str:
    match kind:
        case "text":
            return data["text"]
        case "tool_call":
            return f"call {data['id']}"
        case "tool_result":
            return f"{'error' if data['is_error'] else 'result'} {data['tool_call_id']}: {data['content']}"
        case "finish":
            return f"({data['reason']})"
        case _:
            return kind
