"""A whole server in this process, behind a bridge: real door, real engine, scripted models, stores in memory.

    async with front(turn(Say("hello"))) as house:
        client = await house.client("/some/directory")
        run = await client.prompt("hi")

Directories need not exist. Each is a workspace with a script and a store of its own; a store outlives its workspace,
so that a directory opened again is the same conversation.
"""

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from turnkeeper.core.claims import Policy
from turnkeeper.engine.desk import Desk
from turnkeeper.engine.means import Hooks, Knobs
from turnkeeper.engine.reception import Build, Limits, Reception
from turnkeeper.engine.shelling import RunOnce
from turnkeeper.engine.workspace import Workspace
from turnkeeper.models.model import Model
from turnkeeper.models.scripted import ScriptedModel, Turn
from turnkeeper.protocol.config import (
    Config,
    ModelEntry,
    OAuthToken,
    Options,
    ProviderConfig,
    ProviderEntry,
    Scope,
    SelectedModel,
)
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.problems import Conflict, NotFound
from turnkeeper.protocol.transcripts import Transcript
from turnkeeper.protocol.wire_changes import JobRow
from turnkeeper.protocol.wire_config import ConfigState, ConfigTrust
from turnkeeper.protocol.wire_overview import FileNames, JobOutput, ProjectNotes, ProviderState
from turnkeeper.protocol.wire_workspaces import WorkspaceCreation
from turnkeeper.server.app import Door
from turnkeeper.server.bounds import Patience
from turnkeeper.server.guard import Guard
from turnkeeper.server.routes import all_routes
from turnkeeper.store.memory import MemoryStore
from turnkeeper.testing.bridge import Answered, Bridge, Events
from turnkeeper.testing.scene import QUICK, Stage, scene
from turnkeeper.tools.ls import Limits as Reach
from turnkeeper.tools.ls import file_names
from turnkeeper.tools.tool import Tool

MODEL = SelectedModel(model="scripted", provider="scripted")
ENTRY = ModelEntry(id="scripted", name="Scripted", context_window=200_000)


async def echo(command: str, heard: Callable[[str], None]) -> tuple[str, int]:
    """A shell that knows one word."""
    word, _, rest = command.partition(" ")
    if word != "echo":
        return "", 127
    heard(f"{rest}\n")
    return f"{rest}\n", 0


@dataclass
class PlainDesk:
    """A configuration kept in a dictionary."""

    data_dir: Path
    has_agent: bool = True
    run_once: RunOnce = echo
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    initialized: bool = False
    workdir: Path | None = None
    catalog: Sequence[ProviderEntry] = ()
    """What could be configured; what has a key is."""

    def _key_of(self, provider_id: str) -> str:
        return str(self.fields.get(f"providers.{provider_id}.api_key", ""))

    def config(self, *, masked: bool) -> Config:
        key = "***" if masked else "sk-secret"
        provider = ProviderConfig(id="scripted", name="Scripted", api_key=key, models=(ENTRY,))
        keyed = {
            entry.id: ProviderConfig(id=entry.id, name=entry.name, api_key=key, models=entry.models)
            for entry in self.catalog
            if self._key_of(entry.id)
        }
        return Config(
            models={"large": self.fields.get("models.large", MODEL), "small": self.fields.get("models.small", MODEL)},
            providers={"scripted": provider} | keyed if self.has_agent else {},
            options=Options(data_directory=str(self.data_dir)),
        )

    def config_state(self) -> ConfigState:
        return ConfigState()

    async def refresh(self) -> bool:
        return False

    async def trust(self, said: ConfigTrust) -> None:
        raise Conflict(f"nothing of {said.path} waits for trust")

    def providers(self) -> Sequence[ProviderEntry]:
        return self.catalog

    async def update_providers(self, source: str) -> Sequence[ProviderEntry]:
        return self.providers()

    def provider_states(self) -> Sequence[ProviderState]:
        scripted = ProviderState("scripted", "Scripted", "scripted", "", "ready", models=1)
        keyed = [
            ProviderState(entry.id, entry.name, entry.type, "", "ready", models=len(entry.models), key="the settings")
            for entry in self.catalog
            if self._key_of(entry.id)
        ]
        return (scripted, *keyed)

    async def check_database(self) -> Sequence[str]:
        return ()

    async def back_up_database(self, path: str) -> str:
        raise Conflict("this memory is in no file")

    async def compact_database(self) -> int:
        return 0

    async def crush_sessions(self, path: str) -> tuple[str, Sequence[SessionId]]:
        raise NotFound(f"there is no database {path}")

    async def crush_session(self, path: str, session_id: SessionId) -> Transcript:
        raise NotFound(f"there is no database {path}")

    def large_model(self) -> tuple[ModelEntry, SelectedModel]:
        return ENTRY, MODEL

    def default_small_model(self, provider_id: str) -> SelectedModel:
        return MODEL

    async def set_field(self, scope: Scope, key: str, value: Any) -> None:
        self.fields[key] = value

    async def remove_field(self, scope: Scope, key: str) -> None:
        self.fields.pop(key, None)

    async def set_model(self, scope: Scope, slot: str, model: SelectedModel) -> None:
        self.fields[f"models.{slot}"] = model

    async def set_provider_key(self, scope: Scope, provider_id: str, key: str | OAuthToken) -> None:
        self.fields[f"providers.{provider_id}.api_key"] = key

    async def refresh_oauth(self, scope: Scope, provider_id: str) -> None:
        raise NotFound(f"provider {provider_id} not found")

    def needs_init(self) -> bool:
        return not self.initialized

    async def mark_initialized(self) -> None:
        self.initialized = True

    def init_prompt(self) -> str:
        return "Describe this project."

    async def project(self) -> ProjectNotes:
        return ProjectNotes()

    def jobs(self, session_id: SessionId | None) -> Sequence[JobRow]:
        return ()

    async def job_output(self, session_id: SessionId, job_id: str, *, after: int) -> JobOutput:
        raise NotFound(f"there is no job {job_id} in this session")

    async def kill_job(self, session_id: SessionId, job_id: str) -> JobRow:
        raise NotFound(f"there is no job {job_id} in this session")

    async def end_jobs(self, session_id: SessionId) -> None:
        """There are none."""

    async def file_names(self) -> FileNames:
        return FileNames(*file_names(self.workdir, Reach(depth=8, items=1000), env={})) if self.workdir else FileNames()

    async def shell(self, command: str, heard: Callable[[str], None]) -> tuple[str, int]:
        return await self.run_once(command, heard)


@dataclass
class Client:
    """One client of the server: its id, its workspace, and short words for what tests do with them."""

    http: Bridge
    id: str
    workspace: str
    described: dict[str, Any]

    def path(self, rest: str = "") -> str:
        return f"/v1/workspaces/{self.workspace}{rest}"

    def events(self, *, after: int | None = None, detail: str = "") -> Any:
        more = ("" if after is None else f"&after={after}") + (f"&detail={detail}" if detail else "")
        return self.http.stream(self.path(f"/events?client_id={self.id}{more}"))

    async def session(self, title: str = "New Session") -> str:
        return (await self.http.post(self.path("/sessions"), {"title": title})).json()["id"]

    async def prompt(self, session: str, text: str, run_id: str = "", **more: Any) -> Answered:
        body = {"session_id": session, "prompt": text, **({"run_id": run_id} if run_id else {}), **more}
        return await self.http.post(self.path("/agent"), body)

    async def cancel(self, session: str) -> Answered:
        return await self.http.post(self.path(f"/agent/sessions/{session}/cancel"))

    async def messages(self, session: str) -> list[Any]:
        return (await self.http.get(self.path(f"/sessions/{session}/messages"))).json()

    async def retire(self) -> Answered:
        return await self.http.delete(f"/v1/clients/{self.id}")


@dataclass
class Front:
    """The server, and what stands behind it by directory."""

    http: Bridge
    door: Door
    reception: Reception
    stages: dict[str, Stage]
    stores: dict[str, MemoryStore]

    async def client(self, path: str = "/front", *, id: str = "", **asked: Any) -> Client:
        """A client that has opened a workspace."""
        id = id or str(uuid.uuid4())
        answered = await self.http.post("/v1/workspaces", {"path": path, "client_id": id, **asked})
        assert answered.status == 200, answered.body
        described = answered.json()
        return Client(self.http, id, described["id"], described)

    def model(self, path: str = "/front") -> ScriptedModel:
        return self.stages[path].model


@asynccontextmanager
async def front(
    *turns: Turn,
    scripts: Mapping[str, Sequence[Turn]] | None = None,
    tools: Sequence[Tool] = (),
    knobs: Knobs = QUICK,
    policy: Policy | None = None,
    linger_seconds: float = 60.0,
    heartbeat_seconds: float = 60.0,
    send_seconds: float = 30.0,
    streams_max: int = 1024,
    has_agent: bool = True,
    guard: Guard | None = None,
    tcp: bool = False,
    body_bytes_max: int = 1024 * 1024,
    hooks: Hooks | None = None,
    small: Model | None = None,
    large: ScriptedModel | None = None,
    opening: Callable[[Path], Awaitable[None]] | None = None,
    shell: RunOnce = echo,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    stores: dict[str, MemoryStore] | None = None,
    catalog: Sequence[ProviderEntry] = (),
) -> AsyncGenerator[Front]:
    """`opening` is awaited before a workspace is there: it may take its time, or raise.

    `stores` are what another front has left behind: this one is the same server, started again.
    """
    stages: dict[str, Stage] = {}
    stores = {} if stores is None else stores

    @asynccontextmanager
    async def opener(asked: WorkspaceCreation, path: Path) -> AsyncGenerator[tuple[Workspace, Desk]]:
        del asked
        if opening is not None:
            await opening(path)
        script = (scripts or {}).get(str(path), turns)
        store = stores.setdefault(str(path), MemoryStore())
        async with scene(
            *script,
            store=store,
            tools=tools,
            knobs=knobs,
            path=path,
            id=str(uuid.uuid4()),
            hooks=hooks,
            small=small,
            large=large,
        ) as stage:
            stages[str(path)] = stage
            yield (
                stage.workspace,
                PlainDesk(stage.workspace.means.data_dir, has_agent, shell, workdir=path, catalog=catalog),
            )

    limits = Limits(
        heartbeat_seconds=heartbeat_seconds,
        send_seconds=send_seconds,
        streams_max=streams_max,
        linger_seconds=linger_seconds,
        policy=policy or Policy(),
    )
    build = Build(version="test", build_id="test", platform="test/test")
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(anyio.create_task_group())
        reception = Reception(tasks, opener, build=build, limits=limits)
        tasks.start_soon(reception.watch)
        door = Door(reception, all_routes(), guard or Guard(), body_bytes_max=body_bytes_max, patience=patience)
        async with Bridge(door, tcp=tcp) as http:
            yield Front(http, door, reception, stages, stores)
            await reception.close()
        tasks.cancel_scope.cancel()


__all__ = ["Client", "Events", "Front", "PlainDesk", "front"]
