"""How a view follows who is there: who came and went, who looks where, and what they are called."""

from collections.abc import Mapping

from msgspec.structs import replace

from turnkeeper.client.known import View, with_
from turnkeeper.protocol.wire_clients import NameView, Presence
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.protocol.wire_stream import Envelope


def presence(view: View, _: Envelope, payload: Presence) -> View:
    lines = {line.id: line for line in payload.lines}
    if lines != view.lines:
        view = replace(view, lines=lines)
    clients = {client.client_id: client for client in payload.clients}
    if list(clients.items()) == list(view.clients.items()):
        return view
    view = replace(view, clients=clients)
    return replace(view, sessions=attended(view))


def named(view: View, _: Envelope, payload: NameView) -> View:
    if view.names.get(payload.client_id) == payload:
        return view
    return replace(view, names=with_(view.names, payload.client_id, payload))


def attended(view: View) -> Mapping[str, Session]:
    """The sessions, each with how many look at it; those with as many as before are the same objects."""
    counts = {id: len(view.watching(id)) for id in {client.session_id for client in view.clients.values()}}
    return {
        id: one if one.attached_clients == counts.get(id, 0) else replace(one, attached_clients=counts.get(id, 0))
        for id, one in view.sessions.items()
    }
