"""The whole house in this process, behind a bridge: real settings, stores on disk, tools and models, nothing scripted.

    async with house() as door:
        client = await door.client(project, env=environment)

Where no provider is configured, the offline model answers.
"""

import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from turnkeeper.broker.memory import MemoryBroker
from turnkeeper.engine.reception import Build, Limits, Reception
from turnkeeper.house.building import Builder
from turnkeeper.house.shelf import Shelf
from turnkeeper.models.local import AtHome
from turnkeeper.models.wires import open_wires
from turnkeeper.server.app import Door
from turnkeeper.server.guard import Guard
from turnkeeper.server.routes import all_routes
from turnkeeper.testing.bridge import Bridge
from turnkeeper.testing.front import Client
from turnkeeper.tools.jobs_detached import DetachedJobs

BODY_BYTES_MAX = 16 * 1024 * 1024


@dataclass
class House:
    http: Bridge
    reception: Reception

    async def client(self, path: Path, *, env: Mapping[str, str], id: str = "", **asked: object) -> Client:
        """A client that has opened the directory with this environment."""
        id = id or str(uuid.uuid4())
        variables = [f"{name}={value}" for name, value in env.items()]
        body = {"path": str(path), "client_id": id, "env": variables, **asked}
        answered = await self.http.post("/v1/workspaces", body)
        assert answered.status == 200, answered.body
        described = answered.json()
        return Client(self.http, id, described["id"], described)


@asynccontextmanager
async def house(
    *,
    log_file: Path = Path("/dev/null"),
    catalog_file: Path = Path("/dev/null/none"),
    environment: Mapping[str, str] | None = None,
) -> AsyncGenerator[House]:
    async with open_wires(environment) as wires, anyio.create_task_group() as tasks:
        builder = Builder(
            shelf=Shelf(catalog_file, wires.remote),
            wires=wires,
            at_home=AtHome(tasks),
            detached=DetachedJobs(tasks, staying=lambda: reception.staying()),
            broker=MemoryBroker(),
            address="in-process",
            log_file=log_file,
        )
        build = Build(version="test", build_id="test", platform="test/test")
        reception = Reception(tasks, builder, build=build, limits=Limits())
        tasks.start_soon(reception.watch)
        door = Door(reception, all_routes(), Guard(), body_bytes_max=BODY_BYTES_MAX)
        async with Bridge(door) as http:
            yield House(http, reception)
            await reception.close()
        tasks.cancel_scope.cancel()
