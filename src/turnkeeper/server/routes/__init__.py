"""One file a group of routes; each parses, asks the engine, and answers."""

from turnkeeper.server.routes import (
    agent,
    changes,
    config,
    docs,
    extras,
    files,
    overview,
    permissions,
    prompts,
    sessions,
    system,
    workspaces,
)
from turnkeeper.server.routing import Route


def all_routes() -> tuple[Route, ...]:
    """Every route there is, in the order of the document."""
    groups = (system, workspaces, sessions, overview, files, changes, extras, permissions, agent, prompts, config, docs)
    return tuple(route for group in groups for route in group.ROUTES)
