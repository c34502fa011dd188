"""The keys of what is around the conversation."""

from turnkeeper.tui.keys import Key

KEYS = (
    Key("queue.edit", "e,enter", "Edit this prompt", shown=True),
    Key("queue.earlier", "shift+up,K", "Earlier in the line", shown=True),
    Key("queue.later", "shift+down,J", "Later in the line", shown=True),
    Key("queue.now", "s", "Send now, into what is running", shown=True),
    Key("queue.remove", "d,delete", "Take it out of the line", shown=True),
    Key("queue.release", "r", "Let a held line go on"),
    Key("queue.leave", "escape", "Back to writing"),
    Key("landing.open", "enter", "Open this session", shown=True),
)
