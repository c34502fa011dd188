"""The machine under a searcher that looks for a shortest story in which a promise is broken.

Exploration is complete but small, simulation is long but blind; Hypothesis is in between, and shrinks what it finds.
"""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

from tests.simulation import duties
from tests.simulation.duties import check_agreement, told_and_judged
from tests.simulation.exploration import finish, request_of, saying
from tests.simulation.ledger import Broken, Ledger
from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, decide, replay
from turnkeeper.protocol.events import Event, Gate, RunAccepted
from turnkeeper.protocol.ids import MessageId, RunId, SessionId
from turnkeeper.protocol.requests import Answers, Decision
from turnkeeper.protocol.runs import Outcome, Prompt, Run, RunKind, RunState

HERE = SessionId("here")
RUNS = Bundle[RunId]("runs")
SETTLEMENTS: tuple[Decision | Answers, ...] = (Decision(allowed=True), Decision(allowed=False), Answers())


class Sessions(RuleBasedStateMachine):
    """Owns one session, the ledger that judges it, and its log."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(HERE)
        self.ledger = Ledger()
        self.log: list[Event] = []
        self.submitted: dict[RunId, told.Submit] = {}

    def tell(self, command: told.Command) -> None:
        self.session, self.ledger, events = told_and_judged(self.session, self.ledger, command)
        self.log += events

    @rule(target=RUNS, foldable=st.booleans(), summary=st.booleans(), only_if_idle=st.booleans())
    def submit(self, foldable: bool, summary: bool, only_if_idle: bool) -> RunId:
        run_id = RunId(f"r{len(self.submitted) + 1}")
        kind = RunKind.SUMMARY if summary else RunKind.PROMPT
        message = MessageId(f"m {run_id}")
        self.submitted[run_id] = told.Submit(
            run_id,
            Prompt(run_id),
            digest=run_id,
            run_kind=kind,
            foldable=foldable,
            only_if_idle=only_if_idle,
            user_message_id=message,
        )
        self.tell(self.submitted[run_id])
        return run_id

    @rule(run_id=RUNS, same=st.booleans())
    def submit_again(self, run_id: RunId, same: bool) -> None:
        digest = run_id if same else "another"
        ended = run_id in self.ledger.endings
        known = Run(run_id, HERE, RunState.ENDED, digest=run_id) if ended else None
        self.tell(told.Submit(run_id, Prompt(run_id), digest=digest, known=known, user_message_id=MessageId("again")))

    @rule()
    def step(self) -> None:
        if self.ledger.active:
            self.tell(told.Fold(self.ledger.active.run_id))

    @rule(run_id=RUNS)
    def speak_fold_and_ask(self, run_id: RunId) -> None:
        self.tell(saying(run_id))
        self.tell(told.Fold(run_id))
        if request_of(run_id).id not in self.ledger.settled:
            self.tell(told.Ask(request_of(run_id)))

    @rule(run_id=RUNS, answer=st.sampled_from(SETTLEMENTS))
    def settle(self, run_id: RunId, answer: Decision | Answers) -> None:
        self.tell(told.Answer(request_of(run_id).id, answer))

    @rule(run_id=RUNS)
    def withdraw(self, run_id: RunId) -> None:
        self.tell(told.Withdraw(request_of(run_id).id))

    @rule(run_id=consumes(RUNS))
    def finish_or_try_to(self, run_id: RunId) -> None:
        self.tell(finish(self.ledger, run_id))

    @rule()
    def finish_active(self) -> None:
        if self.ledger.active:
            self.tell(told.Finish(self.ledger.active.run_id, Outcome.FAILED))

    @rule(run_id=RUNS, foldable=st.booleans(), index=st.integers(-1, 5))
    def rearrange(self, run_id: RunId, foldable: bool, index: int) -> None:
        self.tell(told.Move(run_id, index))
        self.tell(told.Steer(run_id, foldable))
        self.tell(told.Edit(run_id, Prompt("edited")))

    @rule(command=st.sampled_from([told.Cancel(), told.ClearQueue(), told.Release()]))
    def stop_clear_or_release(self, command: told.Command) -> None:
        self.tell(command)

    @rule(run_id=RUNS)
    def cancel_one(self, run_id: RunId) -> None:
        self.tell(told.Cancel(run_id))

    @rule(hold=st.booleans())
    def recover(self, hold: bool) -> None:
        self.tell(told.Recover(hold))

    @rule(keep=st.booleans(), hold=st.booleans())
    def close_and_reopen(self, keep: bool, hold: bool) -> None:
        self.tell(told.Close(keep))
        self.tell(told.Recover(hold))

    @invariant()
    def the_log_tells_the_session(self) -> None:
        check_agreement(self.session, self.ledger)
        assert replay(HERE, self.log) == self.session

    def teardown(self) -> None:
        """Reopen, release, and finish what is active: in the end nobody is left, whatever happened before."""
        for _ in range(3 * len(self.submitted) + 2):
            if self.ledger.gate is not Gate.OPEN:
                self.tell(told.Recover())
            self.finish_active()
        accepted = {event.run_id for event in self.log if isinstance(event, RunAccepted)}
        assert (self.ledger.alive, self.ledger.endings.keys()) == ((), accepted)


@pytest.mark.timeout(180)
def test_no_story_that_hypothesis_can_tell_breaks_a_promise() -> None:
    run_state_machine_as_test(
        Sessions,
        settings=settings(
            max_examples=120,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


def starts_two_at_once(session: Session, command: told.Command) -> list[Event]:
    calm = Session(session.id, queue=session.queue, gate=session.gate)
    return decide(calm if isinstance(command, told.Submit) and not session.queue else session, command)


def cancels_only_the_line(session: Session, command: told.Command) -> list[Event]:
    return decide(session, told.ClearQueue() if command == told.Cancel() else command)


@pytest.mark.parametrize("broken", [starts_two_at_once, cancels_only_the_line])
def test_a_story_that_breaks_a_promise_is_found(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[Session, told.Command], list[Event]]
) -> None:
    monkeypatch.setattr(duties, "decide", broken)
    with pytest.raises(Broken):
        run_state_machine_as_test(
            Sessions,
            settings=settings(
                max_examples=50,
                stateful_step_count=20,
                deadline=None,
                derandomize=True,
                database=None,
                report_multiple_bugs=False,
            ),
        )
