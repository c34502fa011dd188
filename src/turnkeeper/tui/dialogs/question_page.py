"""One question on its page: its choices or a place to write, and a note beside the answer."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from turnkeeper.protocol.requests import QuestionResponse, QuestionType
from turnkeeper.protocol.wire_requests import WireQuestion
from turnkeeper.tui.chat.ink import cleaned, one_line
from turnkeeper.tui.glyphs import glyphs_of, is_plain
from turnkeeper.tui.listed import Listed
from turnkeeper.tui.writing import Field

YES, NO = "yes", "no"
INDENT = "\N{NO-BREAK SPACE}" * 6
CHOOSING = (QuestionType.SINGLE_CHOICE, QuestionType.MULTI_CHOICE, QuestionType.YES_NO)


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer on its way."""

    chosen: tuple[str, ...] = ()
    text: str = ""
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.chosen or self.text.strip())


def response(question: WireQuestion, draft: Draft) -> QuestionResponse:
    """The draft as it is sent."""
    notes = {"": draft.note.strip()} if draft.note.strip() else {}
    yes = {YES: True, NO: False}.get(draft.chosen[0]) if question.type == QuestionType.YES_NO and draft.chosen else None
    chosen = () if question.type == QuestionType.YES_NO else draft.chosen
    return QuestionResponse(question.id, chosen, draft.text.strip(), yes, notes)


def told(question: WireQuestion, draft: Draft) -> str:
    """The draft in words, for the page where it is confirmed."""
    labels = {choice.id: choice.label for choice in question.choices} | {YES: "Yes", NO: "No"}
    said = [one_line(labels.get(id, id)) for id in draft.chosen]
    said += [one_line(draft.text)] if draft.text.strip() else []
    note = f" ({one_line(draft.note)})" if draft.note.strip() else ""
    return (", ".join(said) or "no answer") + note


def choices_of(question: WireQuestion) -> list[tuple[str, str, str]]:
    """Each choice's id, what it says, and what that means."""
    if question.type == QuestionType.YES_NO:
        return [(YES, "Yes", ""), (NO, "No", "")]
    return [(choice.id, one_line(choice.label), one_line(choice.description)) for choice in question.choices]


class Offered(Listed, inherit_bindings=False):
    """The choices. Enter is left to the dialog, which goes on; a click chooses."""

    BINDINGS = [one for one in OptionList.BINDINGS if not (isinstance(one, Binding) and one.key == "enter")]


class QuestionPage(Vertical):
    """Owns the draft of one answer."""

    DEFAULT_CSS = """
    QuestionPage { height: auto; max-height: 100%; }
    QuestionPage .question { text-style: bold; margin-top: 1; }
    QuestionPage .about { color: $foreground-muted; }
    QuestionPage OptionList { margin-top: 1; }
    QuestionPage Input { margin-top: 1; }
    QuestionPage .note { display: none; }
    QuestionPage.-noted .note { display: block; }
    """

    @dataclass
    class Answered(Message):
        """An answer was given that needs no more: on to what comes next."""

    @dataclass
    class Changed(Message):
        """The draft is another one."""

    def __init__(self, question: WireQuestion, draft: Draft, *, id: str) -> None:
        super().__init__(id=id, classes="-noted" if draft.note else "")
        self.question = question
        self.draft = draft

    @property
    def chooses(self) -> bool:
        return self.question.type in CHOOSING

    @property
    def is_multiple(self) -> bool:
        return self.question.type == QuestionType.MULTI_CHOICE

    def compose(self) -> ComposeResult:
        yield Static(Content(cleaned(self.question.question)), classes="question")
        if self.question.description:
            yield Static(Content(cleaned(self.question.description)), classes="about")
        if self.chooses:
            yield Offered(markup=False)
        if self.question.type != QuestionType.YES_NO:
            hint = "Something else…" if self.chooses else "Your answer"
            yield Field(self.draft.text, placeholder=hint, classes="text", select_on_focus=False)
        yield Field(self.draft.note, placeholder="A note beside the answer", classes="note", select_on_focus=False)

    def on_mount(self) -> None:
        self._list()

    def _list(self) -> None:
        for listed in self.query(OptionList):
            at = listed.highlighted
            listed.set_options(list(self._options()))
            listed.highlighted = 0 if at is None else at

    def _options(self) -> Iterable[Option]:
        for number, (id, label, about) in enumerate(choices_of(self.question), start=1):
            is_chosen = id in self.draft.chosen
            if is_plain(self):
                mark = "chosen: " if is_chosen else ""
            elif self.is_multiple:
                mark = f"[{glyphs_of(self).ok if is_chosen else ' '}] "
            else:
                mark = f"({glyphs_of(self).bullet if is_chosen else ' '}) "
            line = Content.assemble(mark, f"{number} ", label)
            if about:
                line = Content("\n").join([line, Content.styled(f"{INDENT}{about}", "$foreground-muted")])
            yield Option(line, id=id)

    def enter(self) -> None:
        """Be where an answer is given."""
        for place in [*self.query(OptionList), *self.query(Input)]:
            place.focus()
            return

    # Answers

    def choose(self, id: str) -> None:
        """Choose one; of several, or not."""
        if self.is_multiple:
            chosen = (
                tuple(one for one in self.draft.chosen if one != id)
                if id in self.draft.chosen
                else (*self.draft.chosen, id)
            )
        else:
            chosen = (id,)
        self._become(replace(self.draft, chosen=chosen))
        self._list()
        if not self.is_multiple:
            self.post_message(self.Answered())

    def choose_number(self, number: int) -> None:
        choices = choices_of(self.question)
        if self.chooses and 1 <= number <= len(choices):
            self.query_one(OptionList).highlighted = number - 1
            self.choose(choices[number - 1][0])

    def toggle(self) -> None:
        listed = self.query_one(OptionList)
        if listed.highlighted is not None:
            self.choose(choices_of(self.question)[listed.highlighted][0])

    def go_on(self) -> None:
        """With what was answered; where nothing was, with the choice where one stands."""
        if self.draft.is_empty or not self.is_multiple:
            self.toggle()
        if self.is_multiple:
            self.post_message(self.Answered())

    def write_note(self) -> None:
        self.add_class("-noted")
        self.query_one(".note", Input).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_id:
            self.choose(event.option_id)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        is_note = event.input.has_class("note")
        self._become(replace(self.draft, note=event.value) if is_note else replace(self.draft, text=event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Answered())

    def _become(self, draft: Draft) -> None:
        self.draft = draft
        self.post_message(self.Changed())
