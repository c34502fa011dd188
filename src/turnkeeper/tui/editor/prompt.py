"""The sign before what is written: a prompt, a shell's, or one that warns that nobody will be asked."""

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from turnkeeper.tui.glyphs import glyphs_of


class PromptSign(Widget):
    """Owns which sign is shown."""

    COMPONENT_CLASSES = {"sign--prompt", "sign--shell", "sign--yolo"}
    DEFAULT_CSS = """
    PromptSign { width: 2; height: 1; }
    PromptSign .sign--prompt { color: $primary; text-style: bold; }
    PromptSign .sign--shell { color: $accent; text-style: bold; }
    PromptSign .sign--yolo { color: $error; text-style: bold; }
    """
    kind: reactive[str] = reactive("prompt")

    def render(self) -> Text:
        glyphs = glyphs_of(self)
        sign = {"shell": glyphs.shell, "yolo": glyphs.warning}.get(self.kind, glyphs.prompt)
        return Text(sign, style=self.get_component_rich_style(f"sign--{self.kind}", partial=True))
