"""A workspace on a stage: a scripted model, a store in memory, tools and prompts of your choice.

    async with scene(turn(Say("hello"))) as stage:
        run = await stage.run("hi")

Everything between is the real engine. `stage.model` holds and releases what the script says; `stage.store` can be told
to fail; a stage built on another store's contents is the same workspace after a crash.
"""

import itertools
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from turnkeeper.broker.memory import MemoryBroker
from turnkeeper.engine import conversations, submitting
from turnkeeper.engine.means import Files, Hooks, Knobs, Means, Prompts
from turnkeeper.engine.submitting import Submission
from turnkeeper.engine.workspace import Workspace, open_workspace
from turnkeeper.models.model import Model
from turnkeeper.models.scripted import Say, ScriptedModel, ScriptedModels, Turn, turn
from turnkeeper.protocol.ids import ClientId, RunId, SessionId, ToolCallId, WorkspaceId
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.problems import Conflict
from turnkeeper.protocol.requests import Rule
from turnkeeper.protocol.runs import Prompt, Run, RunOptions
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.store import Store
from turnkeeper.tools.tool import Answer, Call, Hands, Tool

QUICK = Knobs(
    retry_first_seconds=0.0,
    connect_seconds=0.0,
    stop_seconds=2.0,
    store_seconds=2.0,
    write_behind_seconds=0.01,
)
"""Patience for tests: nothing waits for a clock that need not."""


@dataclass
class FewTools:
    """A toolbox with just these."""

    all: Sequence[Tool] = ()

    def tools(self, kind: str, *, interactive: bool) -> Sequence[Tool]:
        return self.all

    def understand(self, tool: Tool, call_id: str, raw: str) -> Call | Answer:
        try:
            return Call(ToolCallId(call_id), tool.name, msgspec.json.decode(raw or "{}", type=dict[str, Any]))
        except msgspec.DecodeError as error:
            return Answer(f"The arguments were not valid JSON: {error}", is_error=True)


@dataclass
class PlainPrompts:
    """The shortest prompts that tell one kind of agent from another."""

    async def system(self, kind: str, *, model: str, provider: str, workdir: Path) -> tuple[str, ...]:
        return (f"You are the {kind}.",)


@dataclass
class MemoryFiles:
    """Files that are only remembered."""

    contents: dict[str, str] = field(default_factory=dict[str, str])

    async def read(self, path: Path) -> str | None:
        return self.contents.get(str(path))

    async def write(self, path: Path, content: str | None, *, over: str | None, form: str = "") -> str:
        if self.contents.get(str(path)) != over:
            raise Conflict("the file was changed at this very moment; try again")
        if content is None:
            self.contents.pop(str(path), None)
        else:
            self.contents[str(path)] = content
        return ""


@dataclass
class PlainTool:
    """A tool that is one function."""

    name: str
    does: Callable[[Call, Hands], Any]
    parallel: bool = False
    description: str = "does as it is told"
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    async def use(self, call: Call, hands: Hands) -> Answer:
        answer = await self.does(call, hands)
        return answer if isinstance(answer, Answer) else Answer(str(answer))


@dataclass
class Stage:
    """The workspace, and short words for what tests do with it."""

    workspace: Workspace
    store: Store
    model: ScriptedModel
    models: ScriptedModels

    async def session(self, title: str = "") -> SessionId:
        return (await conversations.begin(self.workspace, title)).id

    async def submit(
        self,
        text: str,
        session_id: SessionId,
        run_id: str | None = None,
        *,
        options: RunOptions = RunOptions(),  # noqa: B008 - frozen
        by: str = "",
        foldable: bool | None = None,
    ) -> RunId:
        submission = Submission(
            session_id, Prompt(text), RunId(run_id) if run_id else None, options, foldable, ClientId(by)
        )
        return await submitting.submit(self.workspace, submission)

    async def run(self, text: str, session_id: SessionId | None = None, **more: Any) -> Run:
        """Submit a prompt and wait for its ending."""
        run_id = await self.submit(text, session_id or await self.session(), **more)
        return await self.workspace.ended(run_id)

    async def messages(self, session_id: SessionId) -> list[Message]:
        return await conversations.messages(self.workspace, session_id)


@asynccontextmanager
async def scene(
    *turns: Turn,
    store: Store | None = None,
    tools: Sequence[Tool] = (),
    knobs: Knobs = QUICK,
    rules: Sequence[Rule] = (),
    path: Path = Path("/scene"),
    small: Model | None = None,
    large: ScriptedModel | None = None,
    id: str = "w",
    files: Files | None = None,
    hooks: Hooks | None = None,
    prompts: Prompts | None = None,
    named: Mapping[str, Model] | None = None,
) -> AsyncGenerator[Stage, None]:
    """`large` plays a script of its own, `named` are models for overrides.

    `id` also keeps what is minted apart from what other workspaces mint.
    """
    store = store or MemoryStore()
    model = large or ScriptedModel(turns)
    models = ScriptedModels(model, small or ScriptedModel([turn(Say("A title"))], again=True), named=named)
    ids = itertools.count(await store.head() + 1)
    clock = itertools.count(1_700_000_000_000)
    means = Means(
        id=WorkspaceId(id),
        path=path,
        data_dir=path / ".turnkeeper",
        store=store,
        broker=MemoryBroker(),
        models=models,
        toolbox=FewTools(tools),
        prompts=prompts or PlainPrompts(),
        files=files if files is not None else MemoryFiles(),
        hooks=hooks,
        now=lambda: next(clock),
        new_id=lambda: f"{id}-{next(ids)}",
        knobs=knobs,
        rules=rules,
    )
    async with open_workspace(means) as workspace:
        yield Stage(workspace, store, model, models)
