"""Opening workspaces once what they are made of has been loaded, which is after the door is open.

Loading tools, voices and the catalogue takes longer than all else together, and nobody needs them before the first
workspace. So it is done in a thread, while the first client is still coming.
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from turnkeeper.engine.desk import Desk
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.wire_workspaces import WorkspaceCreation
from turnkeeper.settings.dirs import find_dirs

if TYPE_CHECKING:
    from turnkeeper.house.building import Builder


class LateBuilder:
    """Owns the builder, and what all of a server's workspaces share, from when it is loaded to the server's end."""

    def __init__(self, *, address: str, log_file: Path) -> None:
        self._address = address
        self._log_file = log_file
        self._loaded = anyio.Event()
        self._builder: Builder | None = None

    async def prepare(self, staying: Callable[[], AbstractContextManager[None]]) -> None:
        """Load everything, and keep it until cancelled. `staying` is entered by what the server must not leave."""
        await anyio.to_thread.run_sync(load_rooms)
        from turnkeeper.broker.memory import MemoryBroker
        from turnkeeper.house.building import Builder
        from turnkeeper.house.shelf import Shelf
        from turnkeeper.models.local import MODEL_VARIABLE, AtHome
        from turnkeeper.models.wires import open_wires
        from turnkeeper.tools.jobs_detached import DetachedJobs

        async with open_wires(os.environ) as wires, anyio.create_task_group() as tasks:
            shelf = Shelf(find_dirs(os.environ).data / "providers.json", wires.remote)
            await shelf.recall()
            tasks.start_soon(shelf.update_at_start, os.environ)
            self._builder = Builder(
                shelf=shelf,
                wires=wires,
                at_home=AtHome(tasks, Path(model) if (model := os.environ.get(MODEL_VARIABLE)) else None),
                detached=DetachedJobs(tasks, staying=staying),
                broker=MemoryBroker(),
                address=self._address,
                log_file=self._log_file,
            )
            self._loaded.set()
            await anyio.sleep_forever()

    @asynccontextmanager
    async def __call__(self, asked: WorkspaceCreation, path: Path) -> AsyncGenerator[tuple[Workspace, Desk]]:
        await self._loaded.wait()
        assert self._builder is not None
        async with self._builder(asked, path) as opened:
            yield opened


def load_rooms() -> None:
    for name in ("turnkeeper.house.building", "turnkeeper.models.wires"):
        import_module(name)
    from turnkeeper.models.catalog import embedded

    embedded()
