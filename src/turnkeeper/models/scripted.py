"""A model that says what its script says: the voice of our tests, and of anyone who wants a talk without surprises.

A script is a sequence of turns, each used up by one question. A turn is a sequence of steps, played in order, and ends
by itself with `tool_use` if it called a tool and `end_turn` if not. In tests a `Hold` stands until its gate is
released, so that a test decides when the next word comes; in a script from a file a `Pause` takes its time, and words
come `every_seconds`, as they did when it was real.
"""

import math
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec

from turnkeeper.models.model import (
    Chunk,
    Finished,
    Model,
    ModelInfo,
    ModelTrouble,
    Purpose,
    Question,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
    Trouble,
    UsageSaid,
)
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Role
from turnkeeper.protocol.runs import Usage

SCRIPTED = ModelInfo(
    id="scripted",
    provider="scripted",
    name="Scripted",
    context_window=200_000,
    default_max_tokens=8_000,
    cost_per_1m_in=1.0,
    cost_per_1m_out=2.0,
    can_reason=True,
    supports_images=True,
    media_in_tool_results=True,
)


class Say(msgspec.Struct, frozen=True, tag="say", tag_field="kind"):
    """Text, in one chunk or in chunks of `characters`; each `every_seconds` after the one before."""

    text: str
    characters: int = 0
    every_seconds: float = 0.0


class Think(msgspec.Struct, frozen=True, tag="think", tag_field="kind"):
    """A whole stretch of reasoning, begun and over."""

    text: str
    signature: str = ""
    provider_data: str = ""
    characters: int = 0
    every_seconds: float = 0.0


class CallTool(msgspec.Struct, frozen=True, tag="call_tool", tag_field="kind"):
    """A call of a tool. `input` is what the model writes: a mapping becomes JSON, text stays as it is, however odd."""

    id: str
    name: str
    input: str | dict[str, Any] = ""
    provider_data: str = ""
    provider_executed: bool = False
    characters: int = 0

    @property
    def text(self) -> str:
        return self.input if isinstance(self.input, str) else msgspec.json.encode(self.input).decode()


class Hold(msgspec.Struct, frozen=True, tag="hold", tag_field="kind"):
    """Say nothing until `release(gate)`; in a script from a file nobody releases it, so it holds until cancelled."""

    gate: str


class Pause(msgspec.Struct, frozen=True, tag="pause", tag_field="kind"):
    """Say nothing for so long."""

    seconds: float


class Fail(msgspec.Struct, frozen=True, tag="fail", tag_field="kind"):
    """Break off with a trouble of this kind."""

    trouble: Trouble
    message: str = "the script says so"
    title: str = "Provider Error"
    status: int = 0
    retry_after_seconds: float | None = None


class Cut(msgspec.Struct, frozen=True, tag="cut", tag_field="kind"):
    """The connection is lost. `quietly` is a stream that merely stops, without its `Finished`."""

    quietly: bool = False


class Use(msgspec.Struct, frozen=True, tag="use", tag_field="kind"):
    """Report what was used."""

    usage: Usage


class Stop(msgspec.Struct, frozen=True, tag="stop", tag_field="kind"):
    """Finish for this reason rather than the obvious one."""

    reason: FinishReason


Step = Say | Think | CallTool | Hold | Pause | Fail | Cut | Use | Stop


class Turn(msgspec.Struct, frozen=True):
    """The answer to one question; with `when`, only to one whose last user text contains it."""

    steps: tuple[Step, ...] = ()
    when: str = ""


class Script(msgspec.Struct, frozen=True):
    """A script as it is kept in a file, JSON or TOML."""

    turns: tuple[Turn, ...]
    model: ModelInfo = SCRIPTED
    again: bool = False
    """Whether it starts over when all turns are used up."""
    title: str = ""
    """What it says when it is asked for a title: a question beside the conversation, which uses up no turn."""


def turn(*steps: Step, when: str = "") -> Turn:
    """A turn, written without brackets."""
    return Turn(steps, when)


class ScriptedModel:
    """Owns one script and how far it is played; remembers every question it was asked."""

    def __init__(
        self, turns: Sequence[Turn] = (), *, info: ModelInfo = SCRIPTED, again: bool = False, title: str | None = None
    ) -> None:
        """Without a `title` of its own, it answers a question for one with a turn."""
        self._info = info
        self._title = title
        self._turns = tuple(turns)
        self._left = list(turns)
        self._again = again
        self._reached: dict[str, anyio.Event] = {}
        self._released: dict[str, anyio.Event] = {}
        self.questions: list[Question] = []
        self.streams_open = 0

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def turns_left(self) -> int:
        return len(self._left)

    def add(self, *turns: Turn) -> None:
        """Write the script on."""
        self._left.extend(turns)

    async def reached(self, gate: str) -> None:
        """Wait until the script stands at this gate."""
        await self._reached.setdefault(gate, anyio.Event()).wait()

    def release(self, gate: str) -> None:
        """Open a gate, for everyone who stands there and everyone still to come."""
        self._released.setdefault(gate, anyio.Event()).set()

    async def stream(self, question: Question) -> AsyncGenerator[Chunk, None]:
        self.questions.append(question)
        steps = self._next(question).steps
        self.streams_open += 1
        try:
            for step in steps:
                match step:
                    case Hold(gate=gate):
                        await self._stand(gate)
                    case Pause(seconds=seconds):
                        await anyio.sleep(seconds)
                    case _:
                        pass
                every_seconds = step.every_seconds if isinstance(step, Say | Think) else 0.0
                due = anyio.current_time()
                for chunk in said(step):
                    if every_seconds:
                        # By the clock and not by the pause before: a reader's delay makes nothing later.
                        due += every_seconds
                        await anyio.sleep_until(due)
                    yield chunk
                    # A reader that cancels between two chunks is heard, as it would be by a socket.
                    await anyio.lowlevel.checkpoint()
                if isinstance(step, Stop | Cut):
                    return
            yield Finished(obvious_reason(steps))
        finally:
            self.streams_open -= 1

    def _next(self, question: Question) -> Turn:
        if not self._left and self._again:
            self._left = list(self._turns)
        asked = last_user_text(question)
        aside = self._title is not None and question.purpose is Purpose.TITLE
        for index, candidate in enumerate(self._left):
            if candidate.when in asked and (candidate.when or not aside):
                return self._left.pop(index)
        if aside:
            return turn(Say(self._title or ""))
        raise ModelTrouble(Trouble.REFUSED, f"the script has no turn left for question {len(self.questions)}")

    async def _stand(self, gate: str) -> None:
        self._reached.setdefault(gate, anyio.Event()).set()
        await self._released.setdefault(gate, anyio.Event()).wait()


class ScriptedModels:
    """Two scripted voices behind the port `Models`; other names can be added for overrides."""

    def __init__(self, large: Model, small: Model | None = None, *, named: Mapping[str, Model] | None = None) -> None:
        self._slots = {"large": large, "small": small or large}
        self._named = dict(named or {})
        self.refreshed: list[str] = []
        self.refresh_helps = False
        self._page, self._has_page = "", anyio.Event()
        self.people_sign_in = False
        """Whether somebody could sign in to the providers; `sign_in` is when they do."""
        self._signed_in = anyio.Event()
        self._signed_in_at = -math.inf

    def sign_in(self) -> None:
        self._signed_in_at = anyio.current_time()
        self._signed_in.set()
        self._signed_in = anyio.Event()

    async def choose(self, slot: str, override: str = "") -> Model:
        if not override:
            return self._slots[slot]
        if override not in self._named:
            raise ModelTrouble(Trouble.REFUSED, f"model {override!r} not found")
        return self._named[override]

    async def refresh(self, provider: str, *, since: float) -> bool:
        self.refreshed.append(provider)
        return self.refresh_helps

    def can_sign_in(self, provider: str) -> bool:
        return self.people_sign_in

    async def sign_in_page(self, provider: str) -> str:
        await self._has_page.wait()
        return self._page

    def show_page(self, page: str) -> None:
        """A command that fetches credentials has named this page."""
        self._page = page
        self._has_page.set()

    async def signed_in(self, provider: str, *, since: float) -> None:
        if self._signed_in_at < since:
            await self._signed_in.wait()


def load_script(path: Path) -> ScriptedModel:
    """The model that plays the script in this file; raises `ModelTrouble` when there is none to play."""
    try:
        content = path.read_bytes()
        decode = msgspec.toml.decode if path.suffix == ".toml" else msgspec.json.decode
        script = decode(content, type=Script)
    except (OSError, msgspec.MsgspecError) as error:
        raise ModelTrouble(Trouble.REFUSED, f"the script {path} cannot be played: {error}") from error
    return ScriptedModel(script.turns, info=script.model, again=script.again, title=script.title)


def said(step: Step) -> Iterator[Chunk]:
    """The chunks of a step, as a provider would send them; raises where the step breaks off."""
    match step:
        case Say(text=text, characters=characters):
            yield from (TextSaid(piece) for piece in pieces(text, characters))
        case Think():
            yield from (ReasoningSaid(piece) for piece in pieces(step.text, step.characters))
            yield ReasoningDone(step.signature, step.provider_data)
        case CallTool():
            call = ToolCallId(step.id)
            yield ToolCallBegun(call, step.name)
            yield from (ToolInputSaid(call, piece) for piece in pieces(step.text, step.characters))
            yield ToolCallDone(call, step.name, step.text, step.provider_data, step.provider_executed)
        case Use(usage=usage):
            yield UsageSaid(usage)
        case Stop(reason=reason):
            yield Finished(reason)
        case Fail():
            raise ModelTrouble(
                step.trouble,
                step.message,
                title=step.title,
                status=step.status,
                retry_after_seconds=step.retry_after_seconds,
            )
        case Cut(quietly=quietly):
            if not quietly:
                raise ModelTrouble(Trouble.CUT, "the connection was lost in the middle of the answer")
        case Hold() | Pause():
            return


def pieces(text: str, characters: int) -> Iterator[str]:
    size = characters or len(text) or 1
    return (text[start : start + size] for start in range(0, len(text), size))


def obvious_reason(steps: Sequence[Step]) -> FinishReason:
    # What the provider ran itself needs no tool of ours, so nobody is waited for.
    waits = any(isinstance(step, CallTool) and not step.provider_executed for step in steps)
    return FinishReason.TOOL_USE if waits else FinishReason.END_TURN


def last_user_text(question: Question) -> str:
    return next((message.text for message in reversed(question.messages) if message.role is Role.USER), "")
