"""What a dialog leaves behind when it closes: something the main screen is to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Open:
    """Show this session; the landing, where none is named."""

    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """Do what has this name in the table of commands."""

    name: str


@dataclass(frozen=True, slots=True)
class Send:
    """Send this prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Put:
    """Put this text where prompts are written."""

    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Give a waiting prompt another text."""

    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Follow:
    """Show whichever session this client looks at, from now on."""

    client_id: str


Wish = Open | Call | Send | Put | Edit | Follow
