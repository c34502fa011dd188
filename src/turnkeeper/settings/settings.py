"""What was set: the wire's configuration and our own knobs, each with its default, its unit and its limits.

Everything here is frozen and knows no files; how it is found is the business of `load.py`. Knobs stand in groups, and a
group is a table of the file: `waits.first_token_seconds = 30` is read as `settings.waits.first_token_seconds`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from turnkeeper.protocol.config import Config, SelectedModel

DAY_SECONDS = 86_400
MIB = 1 << 20

Seconds = Annotated[float, Meta(ge=0.001, le=DAY_SECONDS)]
SecondsOrZero = Annotated[float, Meta(ge=0, le=DAY_SECONDS)]
"""Zero means at once."""
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
CountOrZero = Annotated[int, Meta(ge=0, le=1_000_000)]
"""Zero means no limit."""
TokensOrZero = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]
"""Zero means no limit."""
Bytes = Annotated[int, Meta(ge=1024, le=1 << 40)]
BytesOrZero = Annotated[int, Meta(ge=0, le=1 << 40)]
"""Zero means no limit."""
Money = Annotated[float, Meta(ge=0, le=1_000_000)]


class Waits(msgspec.Struct, frozen=True):
    """How long we wait for others before we say that they did not come."""

    connect_seconds: Seconds = 10
    """For a connection to a model's provider."""
    first_token_seconds: Seconds = 60
    """From the question to the first thing a model says."""
    between_events_seconds: Seconds = 90
    """Between two things a model says."""
    reasoning_seconds: Seconds = 180
    """Between two things said by a model that thinks before it speaks."""
    retry_total_seconds: SecondsOrZero = 600
    """For all attempts of one question together, with the pauses between them."""
    permission_seconds: Seconds = 600
    """For a person to allow or deny."""
    question_seconds: Seconds = 600
    """For a person to answer a question."""
    sign_in_seconds: Seconds = 300
    """For a person to sign in again, when a provider no longer accepts the login."""
    tool_seconds: SecondsOrZero = 0
    """For a shell command in the foreground; zero means until it ends or is cancelled."""
    background_after_seconds: Seconds = 60
    """Until a shell command goes on in the background."""
    hook_seconds: Seconds = 30
    """For a hook that does not say how long it may take."""
    cancel_seconds: Seconds = 5
    """For a run that was cancelled to let go."""


class Runs(msgspec.Struct, frozen=True):
    """What a run may do, and what becomes of the line behind it."""

    queue_after_crash: Literal["go on", "wait"] = "go on"
    """Whether prompts in line start by themselves after the server was killed, or wait for a person."""
    detached_runs: bool = True
    """A run goes on when the last client has left."""
    queue_prompts_max: Count = 100
    """Prompts waiting in one session."""
    steps_max: CountOrZero = 0
    """Questions to the model in one run."""
    tokens_max: TokensOrZero = 0
    """Tokens read and written in one run."""
    cost_dollars_max: Money = 0
    """What one run may cost; zero means no limit."""
    seconds_max: SecondsOrZero = 0
    """How long one run may take; zero means no limit."""
    session_tokens_max: TokensOrZero = 0
    """Tokens read and written in all runs of a session together."""
    session_cost_dollars_max: Money = 0
    """What all runs of a session together may cost; zero means no limit."""
    sub_agent_seconds: Seconds = 3_600
    """For a sub-agent to be done."""
    retries_max: CountOrZero = 3
    """Further attempts of a question that the provider could not answer just then."""
    parallel_tools_max: Count = 8
    """Tools that one step uses at a time."""
    jobs_max: Count = 50
    """Shell commands in the background of one workspace."""


class Server(msgspec.Struct, frozen=True):
    """The door."""

    body_bytes_max: Bytes = 64 * MIB
    """One request; attachments are inside it."""
    clients_max: Count = 1024
    """Streams open at a time."""
    heartbeat_seconds: Seconds = 15
    """Between two signs of life on a silent stream."""
    send_seconds: Seconds = 30
    """For a client to take what is sent to it; after that it is let go, and may resume."""
    create_grace_seconds: SecondsOrZero = 30
    """For a client to open its stream after it opened a workspace."""
    detach_grace_seconds: SecondsOrZero = 10
    """For a client to come back after its last stream was cut."""
    config_check_seconds: Seconds = 2
    """Between two looks at whether a configuration file has changed."""
    idle_seconds: SecondsOrZero = 60
    """For a server without workspaces to wait before it goes."""
    shutdown_seconds: Seconds = 5
    """For everything to come to an end when the server stops."""
    ready_seconds: Seconds = 10
    """For a client to wait for a server that it has started; in a variable, since it has read no file then."""


class Log(msgspec.Struct, frozen=True):
    """What is written about the work, and for how long it is kept."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """What is written: this, and what is more important."""
    retention_days: Annotated[int, Meta(ge=1, le=3650)] = 30
    """For how long a full file is kept."""
    file_bytes_max: Bytes = 10 * MIB
    """When a file is full."""
    total_bytes_max: Bytes = 100 * MIB
    """All files together."""


class Database(msgspec.Struct, frozen=True):
    """How far back the log of a workspace reaches. Conversations, runs and files are kept for ever all the same."""

    log_days: CountOrZero = 90
    """What is older than this is forgotten: a client that was away for longer begins with a snapshot."""
    log_bytes_max: BytesOrZero = 512 * MIB
    """What is beyond this is forgotten, the oldest first; zero means no limit."""
    archive: bool = False
    """Whether what is forgotten is first added to `archive.jsonl` in the data directory."""
    tidy_seconds: Seconds = 3_600
    """Between two looks at what is to be forgotten."""


class Agent(msgspec.Struct, frozen=True):
    """A role at work: which voice it has and which hands. None means all of them."""

    model: str = "large"
    """`large`, `small`, or `provider/model`."""
    allowed_tools: tuple[str, ...] | None = None
    """The tools it may use, by name."""
    allowed_mcp: dict[str, tuple[str, ...]] | None = None
    """MCP servers by name, each with its allowed tools; an empty list allows all of that server's."""
    description: str = ""
    """When to call it, as the agent that may do so is told."""
    prompt: str = ""
    """Added to the end of the system prompt."""


class PermissionRule(msgspec.Struct, frozen=True):
    """Allow, ask or deny: patterns as in file names (`*`, `?`, `[…]`); the last rule that matches decides."""

    verdict: Literal["allow", "ask", "deny"]
    """What the rule says."""
    tool: str = "*"
    """The tools it is about."""
    subject: str = "*"
    """A command line, an absolute path or a URL."""


class Shell(msgspec.Struct, frozen=True):
    """What commands may do, beside what rules say of them."""

    banned: tuple[str, ...] = ()
    """Commands that nobody may run, in addition to the standard ones."""
    unbanned: tuple[str, ...] = ()
    """Standard ones that may be run after all, if somebody allows it."""
    sandbox: bool = False
    """Run commands in bubblewrap, where only the workspace may be written. Without bubblewrap they are refused."""
    sandbox_writable: tuple[str, ...] = ()
    """Further paths that may be written; `~` is the home of whoever works here."""
    sandbox_network: tuple[str, ...] = ()
    """Commands that reach the network from the sandbox, as patterns (`npm ci*`): each part of a line must match one."""


class Source(msgspec.Struct, frozen=True, order=True):
    """The place a value comes from. `line` is 0 where it is not a line of a file: the environment, a flag."""

    path: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


class Sources(msgspec.Struct, frozen=True):
    """Where each key was last said. A key that is not named here has its default."""

    by_key: Mapping[str, Source] = {}
    """Dotted keys; a dot inside a name is written with a backslash before it."""

    def of(self, key: str) -> Source | None:
        """The place of the key itself, or of the nearest thing it is part of."""
        while key:
            if found := self.by_key.get(key):
                return found
            key = key.rpartition(".")[0]
        return None


class Settings(msgspec.Struct, frozen=True):
    """All that was set for one workspace. It may be handed to anybody in the house and printed: no secret shows."""

    config: Config = msgspec.field(default_factory=Config)
    workdir: Path = Path()
    data_dir: Path = Path()
    waits: Waits = Waits()
    runs: Runs = Runs()
    server: Server = Server()
    log: Log = Log()
    database: Database = Database()
    agents: dict[str, Agent] = {}
    rules: tuple[PermissionRule, ...] = ()
    shell: Shell = Shell()
    sources: Sources = msgspec.field(default_factory=Sources)

    def selected(self, slot: str) -> SelectedModel | None:
        """The model chosen for `large` or `small`; without a small one, the large one speaks."""
        chosen = self.config.models.get(slot) or self.config.models.get("large")
        return chosen if chosen and chosen.model else None


class Notice(msgspec.Struct, frozen=True):
    """Something a person should know about what was set, though work can go on."""

    message: str
    source: Source | None = None

    def __str__(self) -> str:
        return f"{self.source}: {self.message}" if self.source else self.message
