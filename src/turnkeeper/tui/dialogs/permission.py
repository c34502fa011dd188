"""May this be done? All of what is asked for, who asks, and every answer there is, with what it means.

Several that wait come one after the other, and the heading counts them. One that somebody else has answered goes by
itself, and says who it was and how. For a moment after each appears no key is heard, so that whoever was typing has
not answered it.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from textual import events
from textual.content import Content
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import Input, Static

from turnkeeper.client.view import View
from turnkeeper.protocol.requests import Decision
from turnkeeper.protocol.wire_requests import PermissionRequest, Resolved
from turnkeeper.tui.dialogs.asking import (
    asker,
    choices_for,
    deed,
    family_root,
    left,
    matter,
    meaning,
    outcome,
    quoted,
)
from turnkeeper.tui.dialogs.choices import Choice, Choices
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.grace import GRACE_SECONDS, Grace
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.dialogs.paper import Paper
from turnkeeper.tui.dialogs.reading import Reading
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.wishes import Put
from turnkeeper.tui.writing import pass_down

AROUND_LINES = 14
"""What of the screen the sheet leaves to the rest of the dialog."""
SCOPES = ("once", "session", "edits", "workspace", "always")


class Answering(Dialog):
    """The keys by which an answer is chosen and given."""

    def action_once(self) -> None:
        self.give("once")

    def action_session(self) -> None:
        self.give("session")

    def action_edits(self) -> None:
        self.give("edits")

    def action_workspace(self) -> None:
        self.give("workspace")

    def action_always(self) -> None:
        self.give("always")

    def action_deny(self) -> None:
        self.give("deny")

    def action_reason(self) -> None:
        self.give("reason")

    def action_choose(self) -> None:
        self.give(self.query_one(Choices).choice.id)

    def action_next(self) -> None:
        self.query_one(Choices).step(1)
        self.draw(self.live.view)

    def action_previous(self) -> None:
        self.query_one(Choices).step(-1)
        self.draw(self.live.view)

    def action_later(self) -> None:
        self.leave()

    def give(self, id: str) -> None:
        """Give the answer of this name, if it can be given."""
        choices = self.query_one(Choices)
        for at, choice in enumerate(choices.choices):
            if choice.id == id and choice.is_open:
                choices.at = at
                self.given(choice)

    def given(self, choice: Choice) -> None:
        """An answer was chosen for good."""


class PermissionDialog(Reading, Answering):
    """Owns which request is shown, the chosen answer, and a reason that is being written."""

    BINDINGS = bindings(KEYS, "permission")
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    PermissionDialog > #box { max-width: 140; border: round $warning; }
    PermissionDialog > #box.-full { max-width: 100%; height: 100%; margin: 0; }
    PermissionDialog Heading { color: $text-warning; }
    PermissionDialog #asker { height: 1; color: $text-muted; }
    PermissionDialog #meaning { height: auto; max-height: 3; color: $text-muted; }
    PermissionDialog #reason { display: none; margin-top: 1; }
    PermissionDialog.-reason #reason { display: block; }
    PermissionDialog.-reason Choices { display: none; }
    """

    def __init__(self, live: Live, request_id: str) -> None:
        super().__init__(live)
        self.request: PermissionRequest | None = live.view.permissions.get(request_id)
        self._first = request_id
        self._root = family_root(live.view, self.request.session_id) if self.request else ""
        self._grace = Grace(0.0)
        self._is_sending = False

    def inside(self) -> Iterable[Widget]:
        yield Static("", id="asker", markup=False)
        yield Paper(id="matter")
        yield Choices()
        yield Input(
            placeholder="Why not? The model reads it. Enter sends, escape goes back.",
            id="reason",
            select_on_focus=False,
        )
        yield Static("", id="meaning", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self._tick)
        if self.request is None:
            self.call_after_refresh(self._next)
        else:
            self._show(self.request)

    # Which one

    def _waiting(self, view: View) -> list[PermissionRequest]:
        """Those of this session and its sub-agents, first asked first."""
        return [one for one in view.permissions.values() if family_root(view, one.session_id) == self._root]

    def heard(self, before: View, now: View) -> None:
        del before
        request = self.request
        if request is None or request.id not in now.permissions:
            if request is not None and not self._is_sending:
                self._tell_outcome(request, now)
            self._next()
        else:
            self.draw(now)

    def _tell_outcome(self, request: PermissionRequest, view: View) -> None:
        settled = view.settled.get(request.id)
        if settled is not None and settled.by != self.live.me:
            self.host.say(outcome(settled, self.live.name_of), title=f"{deed(request)}: {quoted(request.subject)}")

    def _next(self) -> None:
        """The next that waits, or the end. What was being written when others answered is not lost."""
        if not self.is_current:
            return
        rest = self._waiting(self.live.view)
        written = self.query_one("#reason", Input).value.strip()
        if rest:
            self._show(rest[0])
        elif written:
            self.leave(Put(written))
        else:
            self.leave()

    def _show(self, request: PermissionRequest) -> None:
        self.request = request
        self._is_sending = False
        self._grace = Grace(self.host.now())
        self.set_timer(GRACE_SECONDS, self._settle_down)
        self.query_one(Choices).choices = choices_for(request)
        self.query_one(Choices).at = 0
        workdir = self.live.workspace.opened.path
        self.query_one(Paper).show(lambda ink: matter(request, replace(ink, workdir=workdir)))
        self.fit()
        self.draw(self.live.view)

    def _settle_down(self) -> None:
        self.foot.refresh(layout=True)

    # How it looks

    def draw(self, view: View) -> None:
        request = self.request
        if request is None:
            return
        rest = self._waiting(view)
        place = next((at for at, one in enumerate(rest, start=1) if one.id == request.id), 1)
        count = f"{place} of {len(rest)}" if len(rest) > 1 else ""
        beside = "  ".join(part for part in (count, left(request.expires_at, self.host.now())) if part)
        self.entitle(f"{deed(request)}?", beside)
        self.query_one("#asker", Static).update(asker(view, request.session_id, request.run_id, self.live.name_of))
        self._mean()

    def _mean(self) -> None:
        choices = self.query_one(Choices)
        if self.request is not None and choices.choices:
            said = "Sending…" if self._is_sending else meaning(choices.choice, self.request)
            self.query_one("#meaning", Static).update(Content(said))

    def _tick(self) -> None:
        self.draw(self.live.view)

    def fit(self) -> None:
        """As high as what is on the sheet, as far as there is room."""
        box, paper = self.query_one("#box"), self.query_one(Paper)
        is_full = self.fills or self.size.width < 78 or self.size.height < 21
        box.set_class(is_full, "-full")
        paper.styles.height = "1fr" if is_full else max(1, min(len(paper.lines), self.size.height - AROUND_LINES))

    def on_resize(self, _: events.Resize) -> None:
        self.call_after_refresh(self._refit)

    def _refit(self) -> None:
        try:
            self.query_one(Paper).redraw()
            self.fit()
        except NoMatches:
            return

    # Keys

    def on_key(self, event: events.Key) -> None:
        if self._grace.swallows(self.host.now()):
            event.stop()
            event.prevent_default()
            # Behind an answer that was given, whoever presses a key is answering and not writing.
            if self.request is not None and self.request.id == self._first:
                pass_down(event, self)
            return
        if self.has_class("-reason") and event.key == "escape":
            event.stop()
            self._write_reason(False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a reason is written, letters are letters."""
        del parameters
        if action in ("later", "close"):
            return True
        return not self.has_class("-reason")

    def on_choices_given(self, event: Choices.Given) -> None:
        event.stop()
        if self._grace.is_over(self.host.now()):
            self.given(event.choice)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._answer(Decision(allowed=False, reason=event.value.strip()))

    # The answer

    def given(self, choice: Choice) -> None:
        if choice.id == "reason":
            self._write_reason(True)
        elif choice.id in SCOPES:
            self._answer(Decision(allowed=True, scope=choice.id))
        else:
            self._answer(Decision(allowed=False))

    def _write_reason(self, writes: bool) -> None:
        self.set_class(writes, "-reason")
        self._mean()
        field = self.query_one("#reason", Input)
        self.set_focus(field if writes else None)
        self.foot.refresh(layout=True)

    def _answer(self, decision: Decision) -> None:
        if self.request is None or self._is_sending:
            return
        self._is_sending = True
        self._mean()
        self.run_worker(partial(self._send, self.request, decision), name="answer", group="answer")

    async def _send(self, request: PermissionRequest, decision: Decision) -> None:
        asked = self.live.workspace.permissions.answer(request, decision)
        receipt = await self.live.attempt(asked, "send your answer")
        if receipt is None:
            self._is_sending = False
            self._mean()
            return
        field = self.query_one("#reason", Input)
        if receipt.resolved:
            field.value = ""
        else:
            self._tell_late(receipt)
        self._write_reason(False)
        self._pass_over(request)

    def _tell_late(self, receipt: Resolved) -> None:
        who = self.live.name_of(receipt.by) if receipt.by else "Somebody else"
        self.host.say(f"{who[:1].upper()}{who[1:]} was first: {receipt.decision or 'it is settled'}.")

    def _pass_over(self, request: PermissionRequest) -> None:
        """What was answered is over here, also before the view has heard of it."""
        rest = [one for one in self._waiting(self.live.view) if one.id != request.id]
        if rest:
            self._show(rest[0])
        else:
            self.leave()
