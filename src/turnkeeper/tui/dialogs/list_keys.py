"""The keys of dialogs that are lists, and of those that ask for a line of text."""

from turnkeeper.tui.keys import Key

KEYS = (
    Key("list.take", "enter", "Take: what is marked", shown=True),
    Key("list.above", "up,ctrl+p", "The row above"),
    Key("list.below", "down,ctrl+n", "The row below"),
    Key("list.page-above", "pageup", "A page up"),
    Key("list.page-below", "pagedown", "A page down"),
    Key("line.newline", "ctrl+j,shift+enter", "New line"),
    Key("line.save", "ctrl+s,ctrl+enter", "Save: the text", shown=True),
    Key("quit.yes", "y,enter,ctrl+c", "Leave", shown=True),
    Key("quit.no", "n,escape", "Stay", shown=True),
    Key("files.undo", "ctrl+z", "Take back: this file", shown=True, first=True),
    Key("files.redo", "ctrl+y", "Do again: what was taken back", shown=True, first=True),
    Key("files.undo-all", "ctrl+x", "Take all back: every file", shown=True, first=True),
    Key("files.down", "ctrl+d", "Scroll down", first=True),
    Key("files.up", "ctrl+u", "Scroll up", first=True),
    Key("files.split", "ctrl+t", "Side by side, or in one column", first=True),
    Key("jobs.kill", "ctrl+x", "Stop: this command", shown=True, first=True),
    Key("grants.revoke", "ctrl+x", "Take back: this permission", shown=True, first=True),
    Key("grants.turn", "tab", "Turn: what is allowed, what was decided", shown=True, first=True),
    Key("settings.project", "tab", "Where: for you, or for this workspace", shown=True, first=True),
)
