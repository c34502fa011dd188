"""What a workspace works with, as `house/` puts it together, and how long it is patient."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from turnkeeper.broker.broker import Broker
from turnkeeper.models.model import Models
from turnkeeper.protocol.ids import WorkspaceId
from turnkeeper.protocol.requests import Grant, Rule
from turnkeeper.protocol.runs import QUEUE_MAX
from turnkeeper.store.store import Store
from turnkeeper.tools.tool import Answer, Call, Tool


@dataclass(frozen=True, slots=True)
class Knobs:
    """Every patience and bound of the engine, with its unit."""

    first_token_seconds: float = 60.0
    between_events_seconds: float = 90.0
    reasoning_seconds: float = 180.0
    connect_seconds: float = 10.0
    retries_max: int = 3
    retry_first_seconds: float = 5.0
    retry_factor: float = 2.0
    retry_total_seconds: float = 600.0
    """All attempts of one question together, with the pauses between them."""
    sign_in_seconds: float = 300.0
    permission_seconds: float = 600.0
    question_seconds: float = 600.0
    stop_seconds: float = 5.0
    store_seconds: float = 30.0
    """How long a run waits for a disk that is full or locked before it fails."""
    title_seconds: float = 30.0
    write_behind_seconds: float = 0.04
    write_behind_bytes: int = 16 * 1024
    parallel_tools_max: int = 5
    sessions_awake_max: int = 64
    queue_max: int = QUEUE_MAX
    queue_waits_after_crash: bool = False
    auto_summarize: bool = True
    sub_agent_seconds: float = 3600.0
    steps_max: int | None = None
    """What any run may take. A run may be told to take less, never more."""
    tokens_max: int | None = None
    cost_max: float | None = None
    seconds_max: float | None = None
    session_tokens_max: int | None = None
    """What all runs of a session may take together."""
    session_cost_max: float | None = None


class Toolbox(Protocol):
    """The tools of a workspace, by kind of agent."""

    def tools(self, kind: str, *, interactive: bool) -> Sequence[Tool]: ...

    def understand(self, tool: Tool, call_id: str, raw: str) -> Call | Answer:
        """The call a model meant by its raw JSON text, or an answer telling it what was wrong."""
        ...


class Prompts(Protocol):
    """The texts a model is given before the conversation."""

    async def system(self, kind: str, *, model: str, provider: str, workdir: Path) -> tuple[str, ...]:
        """The system prompt for a kind of agent: `coder`, `task`, `research`, `title` or `summary`."""
        ...


class Files(Protocol):
    """Whole text files, written in the form they had when that was their text, as it was noted."""

    async def read(self, path: Path) -> str | None: ...

    async def write(self, path: Path, content: str | None, *, over: str | None, form: str = "") -> str:
        """Returns the form the file had until then. Raises `Conflict` where the file is not `over` any more."""
        ...


class Lasting(Protocol):
    """What a person allowed always: in every workspace, until it is revoked."""

    async def grants(self) -> Sequence[Grant]: ...

    async def add(self, grants: Sequence[Grant]) -> None: ...

    async def remove(self, grant_id: str) -> bool:
        """Whether it was there."""
        ...


@dataclass
class NothingLasts:
    """Where nobody keeps what was allowed always, it lasts as long as the server does."""

    kept: dict[str, Grant] = field(default_factory=dict[str, Grant])

    async def grants(self) -> Sequence[Grant]:
        return list(self.kept.values())

    async def add(self, grants: Sequence[Grant]) -> None:
        self.kept |= {grant.id: grant for grant in grants}

    async def remove(self, grant_id: str) -> bool:
        return self.kept.pop(grant_id, None) is not None


class Hooks(Protocol):
    """Programs of the user's that are told what happens, and may object."""

    async def prompt_submitted(self, prompt: str, *, session_id: str, first: bool) -> "HookVerdict": ...

    async def before_tool(self, call: Call, *, session_id: str) -> "HookVerdict": ...

    async def after_tool(self, call: Call, answer: Answer, *, session_id: str) -> "HookVerdict":
        """What is to be said with the result: a `refusal` is told beside it, since the call was made."""
        ...

    async def happened(self, event: str, payload: Mapping[str, object]) -> None: ...


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """What hooks say of one call. `refusal` ends it; `approved` spares the person the question."""

    refusal: str = ""
    halt: bool = False
    approved: bool = False
    demand: str = ""
    """Why a person is to be asked, whatever rules allow; empty if nobody wants that."""
    call: Call | None = None
    """The call with the input the hooks rewrote."""
    context: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    """What hooks said, for faces."""


@dataclass(frozen=True, slots=True)
class Means:
    id: WorkspaceId
    path: Path
    data_dir: Path
    store: Store
    broker: Broker
    models: Models
    toolbox: Toolbox
    prompts: Prompts
    files: Files
    now: Callable[[], int]
    """Unix milliseconds, for people to read."""
    new_id: Callable[[], str]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    knobs: Knobs = Knobs()
    hooks: Hooks | None = None
    rules: Sequence[Rule] = ()
    """The configuration's rules, weakest first."""
    lasting: Lasting = field(default_factory=NothingLasts)
