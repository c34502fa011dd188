"""How a run ended, as commands report it: one object with the same keys always, and the exit code that follows from it.

It is the last line of `--output-format json` and `stream-json`, whatever happened: also after a signal, a lost server,
or a prompt that was never taken. A stream without this line was cut.
"""

from typing import TYPE_CHECKING

import msgspec

from turnkeeper.cli import exits
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Usage

if TYPE_CHECKING:
    from turnkeeper.protocol.wire_own import RunView


class Spent(msgspec.Struct, frozen=True):
    """What the run used. Money is in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    estimated: bool = False


class Ending(msgspec.Struct, frozen=True, tag_field="type", tag="run.complete"):
    """`outcome` is `completed`, `failed`, `cancelled`, `interrupted` or `folded`; `lost` where nobody can say,
    `refused` where no run came to be, and of a run that was left while it goes on `detached`, `queued` or `active`.
    """

    run_id: str
    session_id: str
    outcome: str
    exit_code: int
    text: str = ""
    message_id: str = ""
    error: str = ""
    cause: str = ""
    retryable: bool = False
    denied: tuple[str, ...] = ()
    steps: int = 0
    usage: Spent = Spent()
    duration_ms: int = 0
    model: str = ""


def of_run(run: "RunView", *, model: str = "", exit_code: int | None = None, seconds: float = 0.0) -> Ending:
    """`exit_code` where something else than the outcome decides it: a signal to this process.

    How long it took is what the run itself knows, else the `seconds` it was waited for.
    """
    failure = run.failure
    return Ending(
        run_id=run.run_id,
        session_id=run.session_id,
        outcome=run.outcome or ("lost" if not run.state or run.has_ended else run.state),
        exit_code=int(exits.of_run(run)) if exit_code is None else exit_code,
        text=run.text,
        message_id=run.message_id,
        error=failure.message if failure else "",
        cause=failure.cause if failure else "",
        retryable=failure.retryable if failure else False,
        denied=run.denied,
        steps=run.steps,
        usage=spent(run.usage),
        duration_ms=max(0, run.ended_at - run.started_at) if run.ended_at and run.started_at else int(seconds * 1000),
        model=model,
    )


def of_problem(problem: Problem, *, run_id: str = "", session_id: str = "") -> Ending:
    """Nobody can say how it ended (`run_id` was taken), or nothing began."""
    code = exits.of_problem(problem)
    return Ending(
        run_id=run_id,
        session_id=session_id,
        outcome="lost" if run_id else "refused",
        exit_code=int(exits.Exit.LOST if run_id and code == exits.Exit.RETRY else code),
        error=problem.message,
        cause="user" if code == exits.Exit.USAGE else "server",
        retryable=code == exits.Exit.RETRY,
    )


def of_usage(error: str) -> Ending:
    """What was asked for is not there, or cannot be."""
    return Ending("", "", "refused", int(exits.Exit.USAGE), error=error, cause="user")


def of_signal(number: int, *, run_id: str = "", session_id: str = "") -> Ending:
    """Left before the run had ended; the server ends it."""
    outcome = "lost" if run_id else "refused"
    return Ending(run_id, session_id, outcome, 128 + number, error="left by a signal", cause="user")


def spent(usage: Usage | None) -> Spent:
    if usage is None:
        return Spent()
    return Spent(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
        usage.cost,
        usage.estimated,
    )
