"""Exit codes: a function of how it ended, and of nothing else.

| code | means |
|---|---|
| 0 | finished |
| 1 | failed |
| 2 | usage or configuration |
| 3 | a limit or a deadline was reached |
| 4 | cancelled by somebody |
| 5 | finished, but was refused something: it needed a person and nobody was there, or a rule forbade it |
| 6 | the server was lost |
| 75 | failed for now: the same again may work later |
| 130, 143 | ended here by SIGINT, SIGTERM |
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Cause, Outcome

if TYPE_CHECKING:
    from turnkeeper.protocol.wire_own import FailureView, RunView


class Exit(IntEnum):
    FINISHED = 0
    FAILED = 1
    USAGE = 2
    LIMIT = 3
    CANCELLED = 4
    PERSON = 5
    LOST = 6
    RETRY = 75


def of_run(run: "RunView") -> Exit:
    """How a run ended, as a number; one that has not ended is lost to whoever waits for it."""
    return of_ending(run.outcome, run.failure, denied=run.denied)


def of_ending(outcome: str, failure: "FailureView | None" = None, *, denied: Sequence[str] = ()) -> Exit:
    match outcome:
        case Outcome.COMPLETED | Outcome.FOLDED:
            return Exit.PERSON if denied else Exit.FINISHED
        case Outcome.CANCELLED:
            return Exit.CANCELLED
        case Outcome.FAILED:
            return of_failure(failure)
        case Outcome.INTERRUPTED:
            return Exit.RETRY
        case _:
            return Exit.LOST


def of_failure(failure: "FailureView | None") -> Exit:
    if failure is None:
        return Exit.FAILED
    if failure.cause == Cause.LIMIT:
        return Exit.LIMIT
    if failure.retryable:
        return Exit.RETRY
    return Exit.USAGE if failure.cause in (Cause.AUTH, Cause.USER) else Exit.FAILED


def of_problem(problem: Problem) -> Exit:
    """What keeps a command from its answer, by the status it would have over HTTP."""
    match problem.status:
        case 400 | 401 | 403:
            return Exit.USAGE
        case 429 | 503:
            return Exit.RETRY
        case 502 | 504:
            return Exit.LOST
        case _:
            return Exit.FAILED
