"""Questions of a run, answered together: a page for each, and one to look over the answers before they are sent.

What was written is kept: when they are put off, and when somebody else answers first.
"""

from collections.abc import Iterable
from functools import partial
from weakref import WeakKeyDictionary

from textual import events
from textual.content import Content
from textual.widget import Widget
from textual.widgets import ContentSwitcher, OptionList, Static

from turnkeeper.client.view import View
from turnkeeper.protocol.requests import Answers, QuestionType
from turnkeeper.protocol.wire_requests import QuestionRequest
from turnkeeper.tui.chat.ink import cleaned, one_line
from turnkeeper.tui.dialogs.asking import asker, left, outcome
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.grace import Grace
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.dialogs.question_page import Draft, QuestionPage, response, told
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.wishes import Put
from turnkeeper.tui.writing import pass_down

SETTLE_SECONDS = 0.05
CONFIRM_TITLE = "Ready to go?"

_PUT_OFF: WeakKeyDictionary[Live, dict[str, dict[str, Draft]]] = WeakKeyDictionary()
"""What was written of answers that were put off, by request and question."""


class Paging(Dialog):
    """The keys of questions, and which page is shown."""

    @property
    def page(self) -> QuestionPage | None:
        """The page that is shown; None: the last one, where everything is confirmed."""
        shown = self.query_one(ContentSwitcher).visible_content
        return shown if isinstance(shown, QuestionPage) else None

    def turn(self, by: int) -> None:
        """Show another page."""

    def send(self) -> None:
        """Send the answers."""

    def action_next(self) -> None:
        self.turn(1)

    def action_previous(self) -> None:
        self.turn(-1)

    def action_mark(self) -> None:
        if self.page is not None:
            self.page.toggle()

    def action_yes(self) -> None:
        if self.page is not None:
            self.page.choose_number(1)

    def action_no(self) -> None:
        if self.page is not None:
            self.page.choose_number(2)

    def action_note(self) -> None:
        if self.page is not None:
            self.page.write_note()

    def action_go(self) -> None:
        if self.page is None:
            self.send()
        elif isinstance(self.focused, OptionList):
            self.page.go_on()

    def action_send(self) -> None:
        self.send()


class QuestionDialog(Paging):
    """Owns which questions are asked; each page owns its answer."""

    BINDINGS = bindings(KEYS, "question")
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    QuestionDialog > #box { border: round $accent; }
    QuestionDialog Heading { color: $text-accent; }
    QuestionDialog #asker { height: 1; color: $foreground-muted; }
    QuestionDialog #tabs { height: 1; margin-top: 1; }
    QuestionDialog ContentSwitcher { height: auto; max-height: 100%; }
    QuestionDialog #confirm { height: auto; margin-top: 1; }
    """

    def __init__(self, live: Live, request_id: str) -> None:
        super().__init__(live)
        self.request: QuestionRequest = live.view.questions.get(request_id, QuestionRequest(id=request_id))
        self._grace = Grace(0.0)
        self._is_sending = False
        self._pressed = ""

    def inside(self) -> Iterable[Widget]:
        kept = _PUT_OFF.get(self.live, {}).get(self.request.id, {})
        yield Static("", id="asker", markup=False)
        if self.is_form:
            yield Static("", id="tabs", markup=False)
        pages = [
            QuestionPage(question, kept.get(question.id, Draft()), id=f"page-{at}")
            for at, question in enumerate(self.request.questions)
        ]
        confirm = [Static("", id="confirm", markup=False)] if self.is_form else []
        yield ContentSwitcher(*pages, *confirm, initial="page-0" if pages else None)

    @property
    def is_form(self) -> bool:
        return len(self.request.questions) > 1

    def on_mount(self) -> None:
        super().on_mount()
        self._grace = Grace(self.host.now())
        self.set_interval(1.0, lambda: self.draw(self.live.view))
        self._settling = self.set_interval(SETTLE_SECONDS, self._settle)

    def _settle(self) -> None:
        """Nothing has the focus until nobody types any more."""
        if self._grace.is_over(self.host.now()):
            self._settling.stop()
            if self.page is not None:
                self.page.enter()

    # How things are

    def heard(self, before: View, now: View) -> None:
        del before
        if self.request.id in now.questions:
            self.draw(now)
        elif not self._is_sending:
            self._over(now)

    def draw(self, view: View) -> None:
        count = len(self.request.questions)
        title = f"{count} questions" if count > 1 else "A question"
        self.entitle(title, left(self.request.expires_at, self.host.now()))
        self.query_one("#asker", Static).update(
            asker(view, self.request.session_id, self.request.run_id, self.live.name_of)
        )
        self._draw_tabs()

    def _draw_tabs(self) -> None:
        if not self.is_form:
            return
        shown = self.page
        tabs = [self._tab(page, is_here=page is shown) for page in self._pages()]
        last = Content.styled(" Confirm ", "$background on $accent bold" if shown is None else "on $panel")
        self.query_one("#tabs", Static).update(Content(" ").join([*tabs, last]))
        self.query_one("#confirm", Static).update(self._confirmation())

    def _tab(self, page: QuestionPage, *, is_here: bool) -> Content:
        label = one_line(page.question.label) or f"Question {self._pages().index(page) + 1}"
        mark = "" if page.draft.is_empty else f"{self.host.glyphs.ok} "
        return Content.styled(f" {mark}{label} ", "$background on $accent bold" if is_here else "on $panel")

    def _confirmation(self) -> Content:
        lines = [Content.styled(cleaned(self.request.confirm_title or CONFIRM_TITLE), "bold")]
        if self.request.confirm_description:
            lines.append(Content.styled(cleaned(self.request.confirm_description), "$foreground-muted"))
        for page in self._pages():
            question = Content.styled(f"\n{one_line(page.question.question)}", "$foreground-muted")
            lines += [question, Content(f"  {told(page.question, page.draft)}")]
        return Content("\n").join(lines)

    def _pages(self) -> list[QuestionPage]:
        return list(self.query(QuestionPage))

    # Keys

    def on_key(self, event: events.Key) -> None:
        self._pressed = event.key
        if self._grace.swallows(self.host.now()):
            event.stop()
            event.prevent_default()
            pass_down(event, self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        if action in ("send", "decline") and not self._grace.is_over(self.host.now()):
            self._grace.swallows(self.host.now())
            return False
        page = self.page if self.is_mounted else None
        match action:
            case "yes" | "no":
                return page is not None and page.question.type == QuestionType.YES_NO
            case "mark":
                return page is not None and page.is_multiple and isinstance(self.focused, OptionList)
            case "next" | "previous":
                return self.is_form
            case "note":
                return page is not None
            case _:
                return True

    def action_pick(self) -> None:
        if self.page is not None and self._pressed.isdigit():
            self.page.choose_number(int(self._pressed))

    def action_later(self) -> None:
        _PUT_OFF.setdefault(self.live, {})[self.request.id] = {page.question.id: page.draft for page in self._pages()}
        self.leave()

    def action_decline(self) -> None:
        self._ask(None)

    def turn(self, by: int) -> None:
        if not self.is_form:
            return
        names = [*(str(page.id) for page in self._pages()), "confirm"]
        switcher = self.query_one(ContentSwitcher)
        switcher.current = names[(names.index(switcher.current or "confirm") + by) % len(names)]
        if self.page is not None:
            self.page.enter()
        else:
            self.set_focus(None)
        self.draw(self.live.view)
        self.foot.refresh(layout=True)

    def on_question_page_answered(self, event: QuestionPage.Answered) -> None:
        event.stop()
        if self.is_form:
            self.turn(1)
        else:
            self.send()

    def on_question_page_changed(self, event: QuestionPage.Changed) -> None:
        event.stop()
        self._draw_tabs()

    # The answer

    def send(self) -> None:
        self._ask(Answers(tuple(response(page.question, page.draft) for page in self._pages())))

    def _ask(self, answers: Answers | None) -> None:
        if not self._is_sending:
            self._is_sending = True
            self.run_worker(partial(self._send, answers), name="answer", group="answer")

    async def _send(self, answers: Answers | None) -> None:
        questions = self.live.workspace.questions
        if answers is None:
            done = await self.live.attempt(questions.refuse(self.request.id), "decline to answer")
        else:
            receipt = await self.live.attempt(questions.answer(self.request.id, answers), "send your answers")
            done = None if receipt is None else receipt.resolved
        self._is_sending = False
        if done is None:
            return
        _PUT_OFF.get(self.live, {}).pop(self.request.id, None)
        if done:
            self.leave()
        else:
            self._over(self.live.view)

    def _over(self, view: View) -> None:
        """Somebody else was first, or nobody asks any more. What was written is given back."""
        settled = view.settled.get(self.request.id)
        if settled is not None and settled.by != self.live.me:
            self.host.say(outcome(settled, self.live.name_of), title="The question is settled")
        written = [page.draft.text.strip() for page in self._pages() if page.draft.text.strip()]
        self.leave(Put("\n".join(written)) if written else None)
