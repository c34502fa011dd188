"""Thousands of simulated days; and that the days are days on which something happens."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation import server
from tests.simulation.simulation import main, simulate
from turnkeeper.core import commands as told
from turnkeeper.core.session import Session, decide
from turnkeeper.protocol.events import Event, MessageSaid, RunStarted
from turnkeeper.protocol.runs import Outcome

ROOT = Path(__file__).parents[2]
SEEDS = 2_400
CHUNKS = 6

HAPPENINGS = (
    "→ RunAccepted, RunStarted, MessageSaid",
    "→ RunFolded, MessageSaid, RunFolded, MessageSaid",
    "→ RequestWithdrawn, RunComplete, RunStarted",
    "→ RequestWithdrawn, RunStopping",
    "→ RequestAnswered",
    "→ RequestAsked, RequestAnswered",
    "→ PromptEdited",
    "→ PromptSteered",
    "→ QueueReordered",
    "→ GateMoved, RunStarted",
    "→ GateMoved, RunComplete",
    "→ SessionMoved",
    "→ PowerCut",
    "→ not written",
    "→ RunIdConflict",
    "→ RunNotQueued",
    "→ SessionBusy",
    "→ WorkspaceClosing",
    "crash",
)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_promise_is_kept_on_thousands_of_days(chunk: int) -> None:
    acknowledged = sum(len(simulate(seed).acknowledged) for seed in range(chunk, SEEDS, CHUNKS))
    assert acknowledged > 10 * SEEDS // CHUNKS, "so few prompts prove little"


def test_everything_that_can_happen_does_happen_within_a_hundred_days() -> None:
    lines = [line for seed in range(100) for line in simulate(seed).trace]
    assert [what for what in HAPPENINGS if not any(what in line for line in lines)] == []


def test_a_seed_tells_the_same_day_in_every_process() -> None:
    days = [
        subprocess.run(
            [sys.executable, "-m", "tests.simulation.simulation", "--seed", "7"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
            timeout=30,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert days[0] == days[1] == "\n".join(simulate(7).trace) + "\n"


def test_different_seeds_tell_different_days() -> None:
    assert simulate(1).trace != simulate(2).trace


def test_an_unlucky_seed_is_named_with_the_end_of_its_day(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "decide", strands_the_line)
    assert main(["--seeds", "2-20"]) == 1
    printed = capsys.readouterr().out
    assert re.match(r"seed \d+: Broken: nobody waits in an idle session whose gate is open\n", printed)
    assert printed.count("\n") == 13


def strands_the_line(session: Session, command: told.Command) -> list[Event]:
    """The original's way: a run that fails leaves without looking at the queue."""
    events = decide(session, command)
    if isinstance(command, told.Finish) and command.outcome is not Outcome.COMPLETED:
        return [event for event in events if not isinstance(event, RunStarted | MessageSaid)]
    return events
