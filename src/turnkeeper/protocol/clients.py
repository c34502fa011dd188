"""Who a client says it is: a name for people to read, and which face it shows them. Its id alone tells it apart."""

from enum import StrEnum

import msgspec

from turnkeeper.protocol.ids import ClientId

NAME_CHARACTERS_MAX = 64


class ClientKind(StrEnum):
    TERMINAL = "terminal"
    CLI = "cli"
    EDITOR = "editor"
    BROWSER = "browser"
    SCRIPT = "script"


class ClientName(msgspec.Struct, frozen=True):
    """A client's id, the name it gave itself, and its kind; a kind nobody knows is none."""

    client_id: ClientId
    name: str = ""
    kind: str = ""


def client_name(client_id: ClientId, name: str, kind: str) -> ClientName:
    """What a stranger said of itself, as it may be shown: one short line, without anything that moves a cursor."""
    printable = "".join(character if character.isprintable() else " " for character in name[: 4 * NAME_CHARACTERS_MAX])
    known = next((one.value for one in ClientKind if one == kind.lower()), "")
    return ClientName(client_id, " ".join(printable.split())[:NAME_CHARACTERS_MAX].rstrip(), known)
