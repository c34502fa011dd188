"""Building a workspace out of a directory: settings, store, models, tools, and the engine around them."""

import logging
import os
import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from turnkeeper import __version__
from turnkeeper.broker.memory import MemoryBroker
from turnkeeper.engine.configuring import refreshed
from turnkeeper.engine.desk import Desk
from turnkeeper.engine.means import Knobs, Means
from turnkeeper.engine.workspace import Workspace, open_workspace
from turnkeeper.house.briefing import Briefing
from turnkeeper.house.desk import WorkspaceDesk, surroundings
from turnkeeper.house.files import DiskFiles
from turnkeeper.house.lasting import GrantsFile
from turnkeeper.house.shelf import Shelf
from turnkeeper.house.tidying import keep_tidy
from turnkeeper.house.toolbox import WorkspaceHooks, WorkspaceTools
from turnkeeper.house.voices import Voices
from turnkeeper.models.local import AtHome
from turnkeeper.models.wires import Wires
from turnkeeper.protocol.ids import WorkspaceId
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.requests import Rule, Verdict
from turnkeeper.protocol.wire_config import ConfigNotice
from turnkeeper.protocol.wire_workspaces import WorkspaceCreation, environment
from turnkeeper.settings.dirs import find_dirs
from turnkeeper.settings.load import Loaded, load
from turnkeeper.settings.projects import Project, remember
from turnkeeper.settings.settings import Settings
from turnkeeper.store.migrate import Progress
from turnkeeper.store.sqlite import open_store
from turnkeeper.store.upkeep import Upkeep
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.jobs_detached import DetachedJobs

log = logging.getLogger(__name__)

PROGRESS_TICKS = 1000
"""How often a long step of a migration is told of."""


@dataclass(frozen=True)
class Builder:
    """What all workspaces of a server share; called with a directory, it opens a workspace there."""

    shelf: Shelf
    wires: Wires
    at_home: AtHome
    detached: DetachedJobs
    broker: MemoryBroker
    address: str
    log_file: Path

    @asynccontextmanager
    async def __call__(self, asked: WorkspaceCreation, path: Path) -> AsyncGenerator[tuple[Workspace, Desk]]:
        env = environment(asked.env) or dict(os.environ)
        data_dir = Path(asked.data_dir) if asked.data_dir else None
        loaded = await anyio.to_thread.run_sync(partial(load, path, env=env, data_dir=data_dir))
        settings = loaded.settings
        voices = Voices(loaded, shelf=self.shelf, wires=self.wires, at_home=self.at_home)
        briefing = Briefing(loaded)
        async with (
            open_store(settings.data_dir, address=self.address, version=__version__, progress=told) as store,
            JobTable(running_max=settings.runs.jobs_max, detached=self.detached, home=str(path)) as jobs,
        ):
            around = await surroundings(loaded)
            desk = WorkspaceDesk(
                loaded,
                around,
                voices=voices,
                briefing=briefing,
                shelf=self.shelf,
                jobs=jobs,
                upkeep=Upkeep(store),
                notices=(ConfigNotice(store.notice),) if store.notice else (),
            )
            tools = WorkspaceTools(loaded, jobs=jobs, log_file=self.log_file)
            desk.on_change += [voices.changed, briefing.changed, tools.changed]
            means = Means(
                id=WorkspaceId(str(uuid.uuid4())),
                path=path,
                data_dir=settings.data_dir,
                store=store,
                broker=self.broker,
                models=voices,
                toolbox=tools,
                prompts=briefing,
                files=DiskFiles(),
                now=lambda: time.time_ns() // 1_000_000,
                new_id=lambda: str(uuid.uuid4()),
                env=around.env,
                knobs=knobs(settings),
                hooks=WorkspaceHooks(loaded) if settings.config.hooks else None,
                rules=rules(settings),
                lasting=GrantsFile(find_dirs(env).data / "grants.json"),
            )
            async with open_workspace(means) as workspace, anyio.create_task_group() as tasks:
                desk.on_change.append(partial(live, workspace, desk))
                tasks.start_soon(watch, workspace, desk)
                if not store.read_only:
                    tasks.start_soon(keep_tidy, Upkeep(store), settings.data_dir, lambda: desk.loaded.settings.database)
                await anyio.to_thread.run_sync(partial(noted, env, path, settings.data_dir))
                yield workspace, desk
                tasks.cancel_scope.cancel()


def told(progress: Progress) -> None:
    """An older database is being brought to this version's schema, which may take a while."""
    if progress.ticks % PROGRESS_TICKS == 0:
        steps = {"step": progress.version, "steps": progress.target, "ticks": progress.ticks}
        log.info("database is brought up to date", extra=steps)


def noted(env: Mapping[str, str], path: Path, data_dir: Path) -> None:
    """Remember that the directory was opened. A list that cannot be written keeps nobody from their work."""
    try:
        remember(env, Project(str(path), str(data_dir), int(time.time())))
    except Problem as problem:
        log.warning("project not remembered", extra={"problem": problem.message})


def live(workspace: Workspace, desk: WorkspaceDesk, loaded: Loaded) -> None:
    """What is asked for from now on follows the settings as they are now; what has been asked goes on as it began."""
    workspace.means = replace(
        workspace.means,
        env=desk.surroundings.env,
        knobs=knobs(loaded.settings),
        hooks=WorkspaceHooks(loaded) if loaded.settings.config.hooks else None,
        rules=rules(loaded.settings),
    )


async def watch(workspace: Workspace, desk: WorkspaceDesk) -> None:
    """Look now and then whether a file has changed. A prompt looks too, so nothing rests on how often this does."""
    while True:
        await anyio.sleep(desk.loaded.settings.server.config_check_seconds)
        try:
            await refreshed(workspace, desk)
        except Problem as problem:
            log.warning("configuration not looked at", extra={"problem": problem.message})


def knobs(settings: Settings) -> Knobs:
    waits, runs = settings.waits, settings.runs
    return Knobs(
        first_token_seconds=waits.first_token_seconds,
        between_events_seconds=waits.between_events_seconds,
        reasoning_seconds=waits.reasoning_seconds,
        connect_seconds=waits.connect_seconds,
        retries_max=runs.retries_max,
        retry_total_seconds=waits.retry_total_seconds,
        sign_in_seconds=waits.sign_in_seconds,
        permission_seconds=waits.permission_seconds,
        question_seconds=waits.question_seconds,
        stop_seconds=waits.cancel_seconds,
        parallel_tools_max=runs.parallel_tools_max,
        queue_max=runs.queue_prompts_max,
        queue_waits_after_crash=runs.queue_after_crash == "wait",
        auto_summarize=not settings.config.options.disable_auto_summarize,
        sub_agent_seconds=runs.sub_agent_seconds,
        # Zero is no limit.
        steps_max=runs.steps_max or None,
        tokens_max=runs.tokens_max or None,
        cost_max=runs.cost_dollars_max or None,
        seconds_max=runs.seconds_max or None,
        session_tokens_max=runs.session_tokens_max or None,
        session_cost_max=runs.session_cost_dollars_max or None,
    )


def rules(settings: Settings) -> tuple[Rule, ...]:
    """The configuration's rules, weakest first: what the original's allow-list allows, then our own."""
    allowed = settings.config.permissions.allowed_tools if settings.config.permissions else ()
    listed = tuple(_listed(entry) for entry in allowed)
    own = tuple(
        Rule(
            Verdict(rule.verdict),
            "" if rule.tool == "*" else rule.tool,
            "",
            "" if rule.subject == "*" else rule.subject,
        )
        for rule in settings.rules
    )
    return (*listed, *own)


def _listed(entry: str) -> Rule:
    tool, _, action = entry.partition(":")
    return Rule(Verdict.ALLOW, tool, action)


__all__ = ["Builder", "Loaded", "knobs", "rules"]
