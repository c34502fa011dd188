"""What the terminal can be told by name: after a `/` in the editor, and in the palette. One table for both.

`key` names a row of the key map, so that whoever lists commands can show the key that is really bound.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    about: str
    aliases: tuple[str, ...] = ()
    key: str = ""

    def is_called(self, said: str) -> bool:
        return said.lower() in (self.name, *self.aliases)


COMMANDS = (
    Command("new", "Begin a new session", aliases=("clear",), key="app.new"),
    Command("sessions", "Open, search, rename or delete a session", aliases=("resume",), key="app.sessions"),
    Command("models", "Choose the models", aliases=("model",), key="app.models"),
    Command("summarize", "Let a summary take the place of what was said", aliases=("compact",)),
    Command("fork", "Go on from here in a copy of this session", aliases=("branch",)),
    Command("rename", "Give this session another title"),
    Command("export", "Save this conversation as a page or as text"),
    Command("files", "Files this session changed: look, undo, redo", aliases=("history", "diff")),
    Command("undo", "Take back what the last run did to files"),
    Command("redo", "Do again what was taken back"),
    Command("queue", "Prompts that wait: edit, order, remove, send", key="app.queue"),
    Command("why", "Why is nothing happening?"),
    Command("jobs", "Commands that run in the background"),
    Command("people", "Who is here, and to follow one of them", aliases=("follow", "who")),
    Command("permissions", "What may be done unasked, and what was decided", aliases=("allow",)),
    Command("yolo", "Do everything without asking, or ask again", key="app.yolo"),
    Command("providers", "Providers and their keys", aliases=("login",)),
    Command("settings", "What is set, and where", aliases=("config",)),
    Command("theme", "Choose the colours", aliases=("themes",)),
    Command("logs", "What the server and this terminal logged"),
    Command("help", "Every key and command", aliases=("keys", "?"), key="app.help"),
    Command("timestamps", "Show or hide when things were said"),
    Command("expand", "Open everything that is folded, or fold it again"),
    Command("sidebar", "Show or hide the sidebar", key="app.sidebar"),
    Command("editor", "Write in your own editor", key="editor.outside"),
    Command("vim", "Write as in vi, or not"),
    Command("attach", "Attach a file", aliases=("image",), key="editor.attach"),
    Command("init", "Write down for the model how this project works"),
    Command("quit", "Leave; runs go on", aliases=("exit",), key="app.quit"),
)


def named(said: str) -> Command | None:
    """The command of this name, or of this other name."""
    return next((command for command in COMMANDS if command.is_called(said)), None)
