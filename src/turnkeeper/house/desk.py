"""What a workspace has beside its runs: its configuration, read and changed, and a shell for people."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from turnkeeper.house.briefing import Briefing
from turnkeeper.house.shelf import EMBEDDED, Shelf, named_source
from turnkeeper.house.voices import OFFLINE, Voices
from turnkeeper.protocol.config import Config, ModelEntry, OAuthToken, ProviderEntry, Scope, SelectedModel
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.problems import BadRequest, Conflict, NotFound
from turnkeeper.protocol.transcripts import Transcript
from turnkeeper.protocol.wire_changes import JobRow
from turnkeeper.protocol.wire_config import ConfigNotice, ConfigState, ConfigTrust, ConfigWaiting
from turnkeeper.protocol.wire_overview import FileNames, JobOutput, ProjectNotes, ProviderState
from turnkeeper.settings.dirs import CRUSH_DATA_DIR_NAME, find_data_dir, find_dirs, under_home
from turnkeeper.settings.editing import remove_in_scope, set_in_scope
from turnkeeper.settings.environment import working_environment
from turnkeeper.settings.load import Loaded, reread, stale, with_model
from turnkeeper.settings.masking import masked as masked_config
from turnkeeper.settings.settings import Notice, Source
from turnkeeper.settings.trust import distrust, trust
from turnkeeper.store import crush
from turnkeeper.store.upkeep import Upkeep
from turnkeeper.tools.job import Job, JobView
from turnkeeper.tools.jobs import JobMissing, JobTable
from turnkeeper.tools.ls import Limits, file_names
from turnkeeper.tools.shell_once import run_once

log = logging.getLogger(__name__)


def row(view: JobView) -> JobRow:
    code = view.exit.status if view.exit else None
    return JobRow(
        view.id, view.session_id, view.command, view.description, view.state, view.started_at, code, view.detached
    )


INITIALIZED = "init"
FILE_NAMES_MAX = 20_000
FILE_NAMES_DEPTH = 32

Changed = Callable[[Loaded], None]


class ProviderUnknown(NotFound):
    """provider not found"""


class AlreadyThere(Conflict):
    """A file of this name exists already."""


class LoginOver(Conflict):
    """The login cannot be refreshed here; sign in again."""


class NothingWaits(Conflict):
    """Nothing here waits for trust."""


@dataclass(frozen=True)
class Surroundings:
    """The variables that programs of a workspace see, and what kept others from them."""

    env: Mapping[str, str] = field(repr=False)
    notices: tuple[Notice, ...] = ()


async def surroundings(loaded: Loaded) -> Surroundings:
    settings = loaded.settings
    env, missing = await working_environment(settings.config, loaded.environment, settings.workdir)
    notices = (Notice(f"env.{name}: {why}", settings.sources.of(f"env.{name}")) for name, why in missing.items())
    return Surroundings(env, tuple(notices))


class WorkspaceDesk:
    """Owns the settings in force, and tells those who rest on them when they change."""

    def __init__(
        self,
        loaded: Loaded,
        surroundings: Surroundings,
        *,
        voices: Voices,
        briefing: Briefing,
        shelf: Shelf,
        jobs: JobTable,
        upkeep: Upkeep,
        notices: tuple[ConfigNotice, ...] = (),
    ) -> None:
        self.loaded = loaded
        self.surroundings = surroundings
        self.on_change: list[Changed] = []
        self._voices = voices
        self._briefing = briefing
        self._shelf = shelf
        self._jobs = jobs
        self._upkeep = upkeep
        self._notices = notices
        """What there is to be told of the workspace itself."""

    @property
    def has_agent(self) -> bool:
        return True

    def config(self, *, masked: bool) -> Config:
        config = self._voices.config()
        return masked_config(config) if masked else config

    def config_state(self) -> ConfigState:
        loaded = self.loaded
        return ConfigState(
            files=tuple(map(str, loaded.files)),
            notices=(*self._notices, *map(_notice, (*loaded.notices, *self.surroundings.notices))),
            waiting=tuple(ConfigWaiting(str(one.path), one.digest, one.keys) for one in loaded.waiting),
            problem=loaded.problem.message if loaded.problem else "",
        )

    async def refresh(self) -> bool:
        before = self.loaded
        if not await anyio.to_thread.run_sync(stale, before.stamps):
            return False
        after = await anyio.to_thread.run_sync(reread, self.loaded)
        told = (after.settings, after.notices, after.waiting, after.problem and after.problem.message)
        if told == (before.settings, before.notices, before.waiting, before.problem and before.problem.message):
            self.loaded = after
            return False
        if after.problem:
            log.warning("configuration not used", extra={"problem": after.problem.message})
        await self._adopt(after)
        return True

    async def trust(self, said: ConfigTrust) -> None:
        path = Path(said.path)
        machine = find_dirs(self.loaded.environment).data
        if not said.digest:
            await self._written(partial(distrust, machine, path))
            return
        if not any((one.path, one.digest) == (path, said.digest) for one in self.loaded.waiting):
            raise NothingWaits(f"nothing with this digest waits for trust in {path}; look at the file again")
        await self._written(partial(trust, machine, path, said.digest))

    def providers(self) -> Sequence[ProviderEntry]:
        if self.loaded.settings.config.options.disable_default_providers:
            return ()
        return self._shelf.catalog.providers

    async def update_providers(self, source: str) -> Sequence[ProviderEntry]:
        named = source or named_source(self.loaded.environment) or EMBEDDED
        catalog = await self._shelf.update(named)
        await self._adopt(self.loaded)
        return catalog.providers

    def large_model(self) -> tuple[ModelEntry, SelectedModel]:
        config = self._voices.config()
        chosen = config.models.get("large", SelectedModel(model="offline", provider="offline"))
        provider = config.providers.get(chosen.provider)
        models = self._shelf.catalog.models_of(provider) if provider else ()
        return next((model for model in models if model.id == chosen.model), OFFLINE), chosen

    def default_small_model(self, provider_id: str) -> SelectedModel:
        """The provider's own suggestion; without one, the large model in use."""
        known = self._shelf.catalog.provider(provider_id)
        if known and known.default_small_model_id:
            return SelectedModel(model=known.default_small_model_id, provider=provider_id)
        return self.large_model()[1]

    async def set_field(self, scope: Scope, key: str, value: Any) -> None:
        await self._written(partial(set_in_scope, self.loaded, scope, {key: value}))

    async def remove_field(self, scope: Scope, key: str) -> None:
        await self._written(partial(remove_in_scope, self.loaded, scope, [key]))

    async def set_model(self, scope: Scope, slot: str, model: SelectedModel) -> None:
        await self._written(partial(set_in_scope, self.loaded, scope, {f"models.{slot}": msgspec.to_builtins(model)}))
        await self._adopt(with_model(self.loaded, slot, model))

    async def set_provider_key(self, scope: Scope, provider_id: str, key: str | OAuthToken) -> None:
        known = self._shelf.catalog.provider(provider_id) or self.loaded.settings.config.providers.get(provider_id)
        if known is None:
            raise ProviderUnknown(f"provider with ID {provider_id} not found in known providers")
        place = "providers." + provider_id.replace(".", "\\.")
        if isinstance(key, str):
            await self._written(partial(set_in_scope, self.loaded, scope, {f"{place}.api_key": key}))
        else:
            token = {f"{place}.oauth": msgspec.to_builtins(key), f"{place}.api_key": key.access_token}
            await self._written(partial(set_in_scope, self.loaded, scope, token))

    async def refresh_oauth(self, scope: Scope, provider_id: str) -> None:
        known = self.loaded.settings.config.providers.get(provider_id)
        if known is None or known.oauth is None:
            raise ProviderUnknown(f"provider {provider_id} not found")
        raise LoginOver(f"the login of provider {provider_id} cannot be refreshed here; sign in again")

    def needs_init(self) -> bool:
        """Whether nobody has described this project, and nobody has said that it needs no description."""
        settings = self.loaded.settings
        described = any((settings.workdir / name).exists() for name in ("AGENTS.md", "CRUSH.md", "CLAUDE.md"))
        return not described and not (settings.data_dir / INITIALIZED).exists()

    async def mark_initialized(self) -> None:
        await anyio.Path(self.loaded.settings.data_dir / INITIALIZED).touch()

    def init_prompt(self) -> str:
        return self._briefing.initialize()

    async def project(self) -> ProjectNotes:
        return await self._briefing.notes(self.loaded.settings.workdir)

    async def file_names(self) -> FileNames:
        settings = self.loaded.settings
        wished = settings.config.options.tui.completions
        depth = min((wished and wished.max_depth) or FILE_NAMES_DEPTH, FILE_NAMES_DEPTH)
        most = min((wished and wished.max_items) or FILE_NAMES_MAX, FILE_NAMES_MAX)
        look = partial(file_names, settings.workdir, Limits(depth, most), env=self.surroundings.env)
        return FileNames(*await anyio.to_thread.run_sync(look))

    async def shell(self, command: str, heard: Callable[[str], None]) -> tuple[str, int]:
        return await run_once(command, self.loaded.settings.workdir, self.surroundings.env, heard=heard)

    def provider_states(self) -> Sequence[ProviderState]:
        return self._voices.states()

    async def crush_sessions(self, path: str) -> tuple[str, Sequence[SessionId]]:
        workdir = self.loaded.settings.workdir
        usual = find_data_dir(workdir, name=CRUSH_DATA_DIR_NAME) / crush.DATABASE
        database = workdir / under_home(path, self.loaded.environment) if path else usual
        return str(database), await anyio.to_thread.run_sync(crush.session_ids, database)

    async def crush_session(self, path: str, session_id: SessionId) -> Transcript:
        return await anyio.to_thread.run_sync(crush.transcript, Path(path), session_id)

    async def check_database(self) -> Sequence[str]:
        return await self._upkeep.check()

    async def back_up_database(self, path: str) -> str:
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        usual = self.loaded.settings.data_dir / "backups" / f"turnkeeper-{stamp}.db"
        copy = self.loaded.settings.workdir / under_home(path, self.loaded.environment) if path else usual
        try:
            if await anyio.Path(copy).exists():
                raise AlreadyThere(f"{copy} exists already; name another file")
            await anyio.Path(copy.parent).mkdir(mode=0o700, parents=True, exist_ok=True)
            await self._upkeep.backup(copy)
        except (OSError, ValueError) as error:  # a directory that cannot be made; a name that is none
            raise BadRequest(f"cannot write to {path!r}: {error}") from error
        return str(copy)

    async def compact_database(self) -> int:
        return await self._upkeep.vacuum()

    def jobs(self, session_id: SessionId | None) -> Sequence[JobRow]:
        return [row(view) for view in self._jobs.list(session_id)]

    async def job_output(self, session_id: SessionId, job_id: str, *, after: int) -> JobOutput:
        job = self._job(session_id, job_id)
        if after < 0:
            return JobOutput(job.output.text(), job.output.total_bytes, job.done)
        text, position = job.output.since(after)
        return JobOutput(text, position, job.done)

    def _job(self, session_id: SessionId, job_id: str) -> Job:
        try:
            return self._jobs.get(session_id, job_id)
        except JobMissing as missing:
            raise NotFound(f"there is no job {job_id} in this session") from missing

    async def kill_job(self, session_id: SessionId, job_id: str) -> JobRow:
        job = self._job(session_id, job_id)
        await self._jobs.kill(job)
        return row(job.view())

    async def end_jobs(self, session_id: SessionId) -> None:
        await self._jobs.end_session(session_id)

    async def _written(self, write: Callable[[], None]) -> None:
        """Write a change, and put the settings as they now are in force."""
        await anyio.to_thread.run_sync(write)
        await self._adopt(await anyio.to_thread.run_sync(reread, self.loaded))
        if self.loaded.problem:
            raise self.loaded.problem

    async def _adopt(self, loaded: Loaded) -> None:
        self.surroundings = await surroundings(loaded)
        self.loaded = loaded
        for tell in self.on_change:
            tell(loaded)


def _notice(notice: Notice) -> ConfigNotice:
    source = notice.source or Source("")
    return ConfigNotice(notice.message, source.path, source.line)
