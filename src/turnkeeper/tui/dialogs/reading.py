"""A dialog with a sheet to read: scrolled, shifted, split and filled by keys while others answer it."""

from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.paper import SHIFT_CELLS, Paper


class Reading(Dialog):
    """Owns whether it fills the screen. It has one sheet."""

    fills = False

    @property
    def paper(self) -> Paper:
        return self.query_one(Paper)

    def fit(self) -> None:
        """Make the sheet as high as it should be."""

    def action_up(self) -> None:
        self.paper.scroll_up(animate=False)

    def action_down(self) -> None:
        self.paper.scroll_down(animate=False)

    def action_page_up(self) -> None:
        self.paper.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        self.paper.scroll_page_down(animate=False)

    def action_shift_left(self) -> None:
        self.paper.moved(-SHIFT_CELLS)

    def action_shift_right(self) -> None:
        self.paper.moved(SHIFT_CELLS)

    def action_split(self) -> None:
        self.paper.turned()
        self.fit()

    def action_full(self) -> None:
        self.fills = not self.fills
        self.fit()
