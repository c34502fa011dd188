"""The text with what completes it: files after an `@`, commands after a `/`.

typing ─> what is being named? ─> the names that fit ─> offered ─> chosen: written, and told
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import OptionList, TextArea

from turnkeeper.tui.commands import COMMANDS, Command
from turnkeeper.tui.editor.area import Area
from turnkeeper.tui.editor.commanding import Mistaken, commanded
from turnkeeper.tui.editor.keys import KEYS
from turnkeeper.tui.editor.listing import Listing
from turnkeeper.tui.editor.naming import Kind, Naming, Offer, naming, offered
from turnkeeper.tui.editor.popup import Popup
from turnkeeper.tui.editor.prompt import PromptSign
from turnkeeper.tui.host import host_of
from turnkeeper.tui.keys import bindings

MORE = "there are more files than are looked through; write the path of one that is missing"


class Completing(Vertical):
    """Owns what is being named, and what is offered for it."""

    BINDINGS = bindings(KEYS, "completions")
    DEFAULT_CSS = "Completing { height: auto; } Completing > Horizontal { height: auto; }"

    @dataclass
    class FileChosen(Message):
        path: str

    @dataclass
    class CommandChosen(Message):
        name: str

    def __init__(self, area: Area, listing: Listing) -> None:
        super().__init__()
        self.commands: Sequence[Command] = COMMANDS
        self.is_quiet = False
        """Nothing is completed, for now: in a shell line, say."""
        self._area = area
        area.look = self.look
        self._listing = listing
        self._naming: Naming | None = None
        self._own = ""
        """The text as we wrote it, which is no reason to offer something else."""

    def compose(self) -> ComposeResult:
        yield Popup()
        with Horizontal():
            yield PromptSign()
            yield self._area

    @property
    def popup(self) -> Popup:
        return self.query_one(Popup)

    @property
    def is_open(self) -> bool:
        return self._naming is not None and self.popup.is_open

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Its keys are its own while it offers something, and whoever comes next has them otherwise."""
        return self.is_open and (action == "close" or self.popup.marked is not None)

    # What is named

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def look(self) -> None:
        if self._own and self._area.text == self._own:
            return
        self._own = ""
        found = None if self.is_quiet else naming(self._area.text, self._area.at)
        if found == self._naming:
            return
        self._naming = found
        if found is None:
            self.close()
        elif found.kind is Kind.COMMAND:
            self._offer(offered(found.query, self.commands), "")
        else:
            self.run_worker(partial(self._find, found), name="find files", group="find", exclusive=True)

    async def _find(self, wanted: Naming) -> None:
        if not self._listing.is_known:
            self._offer((), "looking for files …")
        await self._listing.refresh()
        found = await self._listing.best(wanted.query)
        if wanted == self._naming:
            offers = [Offer(one.text, at=one.at) for one in found]
            nothing = "" if offers else "no file is called that"
            self._offer(offers, self._listing.trouble or nothing or (MORE if self._listing.truncated else ""))

    def _offer(self, offers: Sequence[Offer], remark: str) -> None:
        self.popup.show(offers, remark)
        self._area.is_completing = self.popup.is_open
        self.refresh_bindings()

    def close(self) -> None:
        """Offer nothing, until something else is written."""
        self.popup.close()
        self._area.is_completing = False
        self.refresh_bindings()

    def takes_command(self) -> bool:
        """Whether what is written is a command, or is meant as one: a mistaken one is told, and stays to be mended."""
        match None if self.is_quiet else commanded(self._area.text, self.commands):
            case Command(name=name):
                self._area.put("")
                self.post_message(self.CommandChosen(name))
            case Mistaken(why=why):
                host_of(self).say(why, severity="warning")
            case None:
                return False
        return True

    # Keys

    def action_next(self) -> None:
        self.popup.action_cursor_down()

    def action_previous(self) -> None:
        self.popup.action_cursor_up()

    def action_close(self) -> None:
        self._naming = naming(self._area.text, self._area.at)
        self._own = self._area.text
        self.close()

    def action_insert_next(self) -> None:
        self.action_next()
        self._write()

    def action_insert_previous(self) -> None:
        self.action_previous()
        self._write()

    def action_choose(self) -> None:
        self._choose(self.popup.marked)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._choose(self.popup.marked)
        self._area.focus()

    def _write(self) -> None:
        """Put what is marked in place of what was typed, and go on offering the same."""
        named, marked = self._naming, self.popup.marked
        if named is None or marked is None:
            return
        sign = "@" if named.kind is Kind.FILE else "/"
        self._replace(named, sign + marked.name)

    def _replace(self, named: Naming, text: str) -> None:
        whole = self._area.text
        self._own = whole[: named.begins] + text + whole[named.ends :]
        ends = named.begins + len(text)
        self._naming = Naming(named.kind, named.query, named.begins, ends)
        self._area.put(self._own, at=ends)

    def _choose(self, offer: Offer | None) -> None:
        named = self._naming
        if named is None or offer is None:
            return
        match named.kind:
            case Kind.FILE:
                self._replace(named, f"{quoted(offer.name)} ")
                self.post_message(self.FileChosen(offer.name))
            case Kind.COMMAND:
                self._area.put("")
                self.post_message(self.CommandChosen(offer.name))
        self._naming = None
        self.close()


def quoted(path: str) -> str:
    """As it is written in a text, where a space would end it."""
    return f'"{path}"' if " " in path else path
