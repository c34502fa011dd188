"""Who is attached to a workspace, as our own clients are told. The original tells a number, and not on its stream."""

from collections.abc import Iterable

import msgspec

from turnkeeper.protocol.clients import ClientName


class ClientView(msgspec.Struct, frozen=True):
    """A client that is attached now."""

    client_id: str = ""
    name: str = ""
    kind: str = ""
    session_id: str = ""
    """The session it looks at; empty: none."""
    since: int = 0
    """When its first stream came, Unix milliseconds."""
    streams: int = 0


class ShellLine(msgspec.Struct, frozen=True):
    """A line that a person runs beside a conversation, while it runs. The message it becomes has the same id."""

    id: str = ""
    session_id: str = ""
    command: str = ""
    by: str = ""
    since: int = 0
    """Unix milliseconds."""
    output: str = ""
    """The end of what it has said so far."""
    stopping: bool = False


class Presence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everybody who is attached, and every line that people run; whoever and whatever is not in it has gone."""

    clients: tuple[ClientView, ...] = msgspec.field(default_factory=lambda: tuple[ClientView, ...]())
    lines: tuple[ShellLine, ...] = ()


class NameView(msgspec.Struct, frozen=True):
    """Who a client said it was, whether it is still there or not."""

    client_id: str = ""
    name: str = ""
    kind: str = ""


class Clients(msgspec.Struct, frozen=True):
    """Who is attached, and what those are called who did something that is kept."""

    clients: tuple[ClientView, ...] = ()
    names: tuple[NameView, ...] = ()


def name_views(names: Iterable[ClientName]) -> tuple[NameView, ...]:
    return tuple(NameView(one.client_id, one.name, one.kind) for one in names)
