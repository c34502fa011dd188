"""What is said above and in the empty text: how keys work now, what enter does, and what is in its way."""

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from turnkeeper.tui.editor.vim import Mode


@dataclass(frozen=True, slots=True)
class Standing:
    """All that is said of a prompt that is being written."""

    mode: Mode | None = None
    is_shell: bool = False
    is_busy: bool = False
    is_yolo: bool = False
    is_lost: bool = False
    waits: bool = False
    """Enter was pressed while the server was away."""


def placeholder(standing: Standing) -> str:
    if standing.is_shell:
        return "Run a shell command"
    if standing.is_lost:
        return "The server is away; what you write is kept"
    if standing.is_busy:
        return "Say what comes next"
    return "Say what to do; nobody will be asked" if standing.is_yolo else "Say what to do"


def words(standing: Standing) -> list[tuple[str, str]]:
    """What is to be said, each with its colour; nothing where all is as usual."""
    said: list[tuple[str, str]] = []
    if standing.mode is not None and standing.mode is not Mode.INSERT:
        said.append((standing.mode, "$primary bold"))
    if standing.is_shell:
        said.append(("shell", "$accent bold"))
    if standing.is_yolo:
        said.append(("yolo: everything is allowed", "$text-error"))
    if standing.waits:
        said.append(("waits for the server, and is sent when it is back; write on to keep it", "$text-warning"))
    elif standing.is_lost:
        said.append(("no server: enter waits for it", "$text-warning"))
    elif standing.is_busy and not standing.is_shell:
        said.append(("enter puts it in line", "$foreground 60%"))
    return said


class StateLine(Static):
    """Owns nothing but what it was told to say."""

    DEFAULT_CSS = """
    StateLine { display: none; height: 1; padding: 0 0 0 2; }
    StateLine.-some { display: block; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def say(self, standing: Standing) -> None:
        said = words(standing)
        self.update(Content("  ").join(Content.styled(text, colour) for text, colour in said))
        self.set_class(bool(said), "-some")
