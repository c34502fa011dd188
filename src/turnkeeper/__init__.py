"""Turnkeeper: a coding agent whose server keeps the runs and whose clients come and go.

Importing this package costs nothing: whatever is slow to import is imported by whoever uses it.

    from turnkeeper import Client

    async with Client.connect() as client:
        workspace = await client.open(".")
        session = await workspace.sessions.create()
        run_id = await workspace.runs.submit(session.id, "What is in this directory?")
        print((await workspace.runs.wait(run_id)).text)
"""

TYPE_CHECKING = False
"""Type checkers take it to be true, whoever defines it: importing `typing` would cost half of what Python does."""

if TYPE_CHECKING:
    from typing import Any

    from turnkeeper.client.client import Client

__version__ = "0.1.0"
__all__ = ["Client", "__version__"]


def __getattr__(name: str) -> "Any":
    if name != "Client":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from turnkeeper.client.client import Client

    return Client
