"""What is offered while somebody names something: a short list above the text, over whatever is there."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from turnkeeper.tui.editor.naming import Offer

ROWS_MAX = 10
NAME_CELLS = 14


class Popup(OptionList, can_focus=False):
    """Owns the offers and which of them is marked. It is open while there is something to say."""

    DEFAULT_CSS = """
    Popup { display: none; overlay: screen; constrain: none inside; width: auto; max-width: 100; min-width: 30;
            height: auto; max-height: 10; border: none; padding: 0; background: $panel; color: $foreground;
            scrollbar-size-vertical: 1; }
    Popup.-open { display: block; }
    Popup > .option-list--option { padding: 0 1; }
    Popup > .option-list--option-highlighted { background: $primary; color: $background; text-style: bold; }
    """

    def __init__(self) -> None:
        super().__init__(id="offers", markup=False)
        self.offers: Sequence[Offer] = ()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    @property
    def marked(self) -> Offer | None:
        index = self.highlighted
        return self.offers[index] if index is not None and index < len(self.offers) else None

    def show(self, offers: Sequence[Offer], remark: str = "") -> None:
        """Offer these; a remark stands below them, and cannot be chosen."""
        self.offers = offers
        lines = [Option(_line(offer)) for offer in offers]
        if remark:
            lines.append(Option(Content.styled(remark, "$foreground 60%"), disabled=True))
        self.set_options(lines)
        self.highlighted = 0 if offers else None
        self.set_class(bool(lines), "-open")
        self.styles.offset = (0, -min(ROWS_MAX, len(lines)))

    def close(self) -> None:
        self.show(())


def _line(offer: Offer) -> Content:
    name = Content(offer.name)
    for at in offer.at:
        name = name.stylize("underline", at, at + 1)
    if not offer.about:
        return name
    return Content.assemble(name, " " * max(1, NAME_CELLS - len(offer.name)), offer.about)
