"""How long a decision takes: decide and evolve for one command, over a mix of commands, with 10 and 99 waiting.

The bounds are for any machine that can run the tests: a median below 20 µs with 10 waiting, and at most linear growth
with the line. The ratio to a reference loop of the same process says the same without the machine's speed in it.
"""

import statistics
import sys
import time
from collections.abc import Callable

from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, decide, evolve
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import MessageId, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Role, Text
from turnkeeper.protocol.requests import Decision, Permission
from turnkeeper.protocol.runs import QUEUE_MAX, Outcome, Prompt

DECISION_MICROSECONDS_MAX = 20.0
GROWTH_MAX = 10.0
"""A line ten times as long may cost ten times as much, and no more."""
ROUNDS, LOOPS = 60, 25
ACTIVE, MIDDLE = RunId("r0"), RunId("r5")
HERE = SessionId("here")
ANSWER = Message(MessageId("answer"), HERE, Role.ASSISTANT, (Text("hello"),), run_id=ACTIVE)
MIX: dict[str, told.Command] = {
    "Submit": told.Submit(RunId("new"), Prompt("another"), digest="d"),
    "Submit, known": told.Submit(MIDDLE, Prompt("do 5"), digest="5"),
    "Say": told.Say(ACTIVE, (e.MessageSaid(ANSWER),)),
    "Fold": told.Fold(ACTIVE),
    "Ask": told.Ask(Permission(RequestId("q"), HERE, ACTIVE, ToolCallId("call"), "bash", "execute")),
    "Answer": told.Answer(RequestId("p"), Decision(allowed=True)),
    "Edit": told.Edit(MIDDLE, Prompt("better")),
    "Move": told.Move(MIDDLE, 0),
    "Cancel one": told.Cancel(MIDDLE),
    "Finish": told.Finish(ACTIVE, Outcome.COMPLETED),
}
CLEAR = told.Cancel()


def session_with(waiting: int) -> Session:
    """One active run that has asked something, and this many behind it, of which every fifth may fold."""
    session = Session(HERE)
    asked = Permission(RequestId("p"), HERE, ACTIVE, ToolCallId("call"), "bash", "execute")
    prompts = [
        told.Submit(RunId(f"r{n}"), Prompt(f"do {n}"), digest=str(n), foldable=n % 5 == 1) for n in range(waiting + 1)
    ]
    for command in (*prompts, told.Ask(asked)):
        session = carry_out(session, command)
    return session


def carry_out(session: Session, command: told.Command) -> Session:
    for event in decide(session, command):
        session = evolve(session, event)
    return session


def reference() -> int:
    """Work of Python's own, about as long as a decision, that nobody here can make slower or faster."""
    return sum(len(f"r{number}") for number in range(50))


def microseconds(work: Callable[[], object]) -> float:
    """The median of many short loops: what a quiet moment on this machine needs."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(LOOPS):
            work()
        times.append((time.perf_counter() - start) / LOOPS * 1e6)
    return statistics.median(times)


def measured(session: Session, command: told.Command) -> float:
    return microseconds(lambda: carry_out(session, command))


def main() -> int:
    short, long = session_with(10), session_with(QUEUE_MAX - 1)
    yardstick = microseconds(reference)
    print(f"{'command':16}{'10 waiting':>14}{'ratio':>8}{'99 waiting':>14}{'growth':>8}")
    with_10: list[float] = []
    with_99: list[float] = []
    for name, command in {**MIX, "Cancel all": CLEAR}.items():
        few, many = measured(short, command), measured(long, command)
        print(f"{name:16}{few:11.2f} µs{few / yardstick:8.2f}{many:11.2f} µs{many / few:8.1f}")
        if command is not CLEAR:  # which ends every one of them, and so is not one decision but as many
            with_10.append(few)
            with_99.append(many)
    few, many = statistics.median(with_10), statistics.median(with_99)
    growth = many / few
    print(f"{'median':16}{few:11.2f} µs{few / yardstick:8.2f}{many:11.2f} µs{growth:8.1f}")
    print(f"bounds: {DECISION_MICROSECONDS_MAX:.0f} µs with 10 waiting, growth {GROWTH_MAX:.0f} from 10 to 99")
    return 0 if few < DECISION_MICROSECONDS_MAX and growth < GROWTH_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
