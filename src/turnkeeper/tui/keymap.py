"""The key map: every key of the application, from the files of its parts. Help and settings are read from here."""

from collections.abc import Iterable, Mapping

from turnkeeper.tui.chat.keys import KEYS as CHAT_KEYS
from turnkeeper.tui.dialogs.keys import KEYS as DIALOG_KEYS
from turnkeeper.tui.dialogs.list_keys import KEYS as LIST_KEYS
from turnkeeper.tui.editor.keys import KEYS as EDITOR_KEYS
from turnkeeper.tui.keys import Key
from turnkeeper.tui.side.keys import KEYS as SIDE_KEYS

APP_KEYS = (
    Key("app.quit", "ctrl+c", "Quit; twice at once", first=True),
    Key("app.help", "ctrl+g,f1", "Help: all keys", shown=True),
    Key("app.palette", "ctrl+p", "Commands", shown=True),
    Key("app.sessions", "ctrl+s", "Sessions", shown=True),
    Key("app.models", "ctrl+l", "Models"),
    Key("app.new", "ctrl+n", "New session"),
    Key("app.yolo", "ctrl+y", "Allow everything (twice), or ask again"),
    Key("app.suspend", "ctrl+z", "Suspend to the shell"),
    Key("app.switch", "tab", "Move between writing and reading"),
    Key("app.queue", "ctrl+t", "What waits, and to-dos"),
    Key("app.sidebar", "ctrl+d", "Show or hide the side"),
    Key("app.answer", "ctrl+k", "Go to what waits for an answer"),
    Key("starting.again", "r", "Try again", shown=True),
    Key("starting.leave", "q,ctrl+c,escape", "Leave", shown=True),
)

SCREEN_KEYS = tuple(key for key in APP_KEYS if key.context == "app" and key.id not in ("app.quit", "app.suspend"))
"""Those the main screen answers, and no dialog above it."""

KEYS: tuple[Key, ...] = (*APP_KEYS, *EDITOR_KEYS, *CHAT_KEYS, *SIDE_KEYS, *DIALOG_KEYS, *LIST_KEYS)
BY_ID = {key.id: key for key in KEYS}


def moved(own: Mapping[str, str]) -> dict[str, str]:
    """The keys that settings give to rows of the map; what they name and is not there is left out."""
    return {id: keys for id, keys in own.items() if id in BY_ID and keys.strip()}


def wrong_keys(own: Mapping[str, str]) -> Iterable[str]:
    """What is wrong with the settings' keys, a sentence each."""
    return [f"keys: there is no {id} in the key map; 'help' lists what there is" for id in own if id not in BY_ID]


def grouped() -> dict[str, list[Key]]:
    """By context, for help."""
    groups: dict[str, list[Key]] = {}
    for key in KEYS:
        groups.setdefault(key.context, []).append(key)
    return groups


TITLES = {
    "app": "Everywhere",
    "starting": "While there is no server",
    "editor": "Where you write",
    "completions": "While something is offered",
    "chips": "What is attached",
    "writing": "The text itself",
    "chat": "The conversation",
    "queue": "The line that waits",
    "landing": "The landing",
    "dialog": "Every dialog",
    "permission": "A permission",
    "question": "A question",
    "list": "Lists",
    "line": "A text that is changed",
    "quit": "Leaving",
    "files": "Changed files",
    "jobs": "Jobs",
    "grants": "Permissions",
    "settings": "Settings",
    "ask": "A question with one line",
    "confirm": "A question with yes and no",
    "sessions": "Sessions",
    "models": "Models",
    "providers": "Providers",
}
"""What a context is called where people read of it."""

_NAMES = {
    "escape": "esc",
    "pageup": "page up",
    "pagedown": "page down",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "slash": "/",
    "ctrl+underscore": "ctrl+_",
    "question_mark": "?",
}


def key_of(id: str, own: Mapping[str, str]) -> str:
    """The first key of a row as it is bound now, as people call it."""
    return shown_keys(BY_ID[id], own).partition(",")[0]


def shown_keys(key: Key, own: Mapping[str, str]) -> str:
    """The keys of a row as they are bound now, as people call them."""
    bound = own.get(key.id, "").strip() or key.keys
    if key.display and bound == key.keys:
        return key.display
    return ", ".join(_NAMES.get(one.strip(), one.strip()) for one in bound.split(","))
