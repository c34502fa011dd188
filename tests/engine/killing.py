"""A server that is killed again and again, at any instant, and looked at after every start: `scripts/kill`.

    python -m tests.engine.killing [--kills N] [--seed S] [--directory D]

A nursery that has imported everything forks one victim after another. A victim opens the workspace that the ones before
it left, puts right what they left, looks at everything that was ever acknowledged there, says "examined", and goes to
work: it accepts prompts, lets them wait and join, streams answers, uses tools, asks for permission and cancels, and
tells the nursery of everything that was answered. Then it gets a SIGKILL, at its work or on its way there.

What was told before the death is what was acknowledged: all of it must be there ever after.
"""

import argparse
import logging
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import msgspec

from tests.engine.survival import survived
from tests.simulation.ledger import hold
from turnkeeper.engine import submitting
from turnkeeper.engine.answering import answer
from turnkeeper.engine.feed import follow
from turnkeeper.models.scripted import CallTool, Say, Think, Turn, turn
from turnkeeper.protocol.events import Entry, RequestAsked, RunAccepted
from turnkeeper.protocol.ids import START, ClientId, RunId, SessionId
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.requests import Decision
from turnkeeper.protocol.runs import Run
from turnkeeper.store.sqlite import open_store
from turnkeeper.testing.scene import PlainTool, Stage, scene
from turnkeeper.tools.tool import Asking, Call, Hands

KILLS_PER_WORKSPACE = 10
SESSIONS = 3
PROMPTS = 60
WORK_SECONDS_MAX = 0.05
EXAMINED_SECONDS_MAX = 40
ON_ITS_WAY = 0.3
"""How many of the victims are killed before they come to their work."""
EXAMINED = "examined"

Tell = Callable[[msgspec.Struct | str], None]


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """A prompt was answered with a receipt."""

    session_id: SessionId
    run_id: RunId
    text: str


class Ended(msgspec.Struct, frozen=True, tag=True):
    """Somebody was told that a run had ended, and how."""

    run_id: RunId
    outcome: str
    text: str


@dataclass
class Told:
    """What was acknowledged in one workspace."""

    accepted: list[Accepted] = field(default_factory=list[Accepted])
    ended: list[Ended] = field(default_factory=list[Ended])

    def hear(self, line: bytes) -> bool:
        """Whether it is that everything was looked at. What is neither that nor an acknowledgement is a complaint."""
        match msgspec.json.decode(line, type=Accepted | Ended | str):
            case Accepted() as accepted:
                self.accepted.append(accepted)
            case Ended() as ended:
                self.ended.append(ended)
            case said:
                hold(said, said == EXAMINED)
                return True
        return False


async def victim(directory: Path, before: Told, name: str, tell: Tell) -> None:
    """One life: what those before me left, then work until the end."""
    dice = random.Random(name)
    prompts = [f"{dice.choice(('say', 'use', 'ask'))} {name}-{number}" for number in range(PROMPTS)]
    async with (
        open_store(directory) as store,
        scene(*turns(prompts), store=store, tools=tools(directory), id=f"minted-{name}") as stage,
        anyio.create_task_group() as tasks,
    ):
        hold("the database is whole", store.notice == "")
        tasks.start_soon(answer_everything, stage)
        entries = await survived(stage.workspace, {one.run_id: one.text for one in before.accepted})
        await examine(stage, before, entries)
        hold("no call was made twice", is_each_once(directory / "made"))
        tell(EXAMINED)
        for number in range(SESSIONS):
            tasks.start_soon(work, stage, prompts[number::SESSIONS], random.Random(f"{name} {number}"), tell)


async def examine(stage: Stage, before: Told, entries: list[Entry]) -> None:
    for ended in before.ended:
        run = await stage.store.run(ended.run_id)
        hold(f"{ended.run_id} ended as was said", run and (run.outcome, run.text) == (ended.outcome, ended.text))
    order = [entry.event.run_id for entry in entries if isinstance(entry.event, RunAccepted)]
    for session in {one.session_id for one in before.accepted}:
        mine = [one.run_id for one in before.accepted if one.session_id == session]
        hold("prompts stand in the order in which they were answered", mine == sorted(mine, key=order.index))


def is_each_once(made: Path) -> bool:
    lines = made.read_text().split() if made.exists() else []
    return len(lines) == len(set(lines))


async def work(stage: Stage, prompts: list[str], dice: random.Random, tell: Tell) -> None:
    session = await stage.session(prompts[0])
    async with anyio.create_task_group() as waiting:
        for prompt in prompts:
            named = dice.random() < 0.7
            run_id = await stage.submit(prompt, session, prompt.split()[1] if named else None)
            tell(Accepted(session, run_id, prompt))
            waiting.start_soon(until_its_end, stage, run_id, tell)
            await anyio.sleep(dice.random() * 0.005)
            if dice.random() < 0.2:
                cancelled = await cancel(stage, session, run_id if dice.random() < 0.5 else None)
                for run in cancelled:
                    tell(Ended(run.id, str(run.outcome), run.text))


async def cancel(stage: Stage, session: SessionId, run_id: RunId | None) -> list[Run]:
    if run_id is not None:
        return [await submitting.cancel_run(stage.workspace, run_id)]
    return await submitting.cancel(stage.workspace, session)


async def until_its_end(stage: Stage, run_id: RunId, tell: Tell) -> None:
    run = await stage.workspace.ended(run_id)
    tell(Ended(run.id, str(run.outcome), run.text))


async def answer_everything(stage: Stage) -> None:
    async for entries, _, _ in follow(stage.workspace, START):
        for entry in entries:
            if isinstance(entry.event, RequestAsked):
                request = entry.event.request
                allowed = hash(request.id) % 3 != 0
                with suppress(Problem):
                    await answer(stage.workspace, request.id, Decision(allowed), by=ClientId("me"))


def turns(prompts: list[str]) -> list[Turn]:
    """An answer to each prompt, and plain ones for what those before left waiting."""
    return [*map(first_turn, prompts), *[turn(Say("and so on, " * 10, characters=4))] * 1000]


def first_turn(prompt: str) -> Turn:
    kind, name = prompt.split()
    match kind:
        case "use":
            calls = [CallTool(f"{name}-{number}", "make", {}) for number in range(2)]
            return turn(Think("let me"), Say("make something", characters=2), *calls, when=name)
        case "ask":
            return turn(CallTool(f"{name}-ask", "dig", {}), when=name)
        case _:
            return turn(Think("so " * 20, characters=3), Say("word " * 300, characters=5), when=name)


def tools(directory: Path) -> list[PlainTool]:
    async def make(call: Call, hands: Hands) -> str:
        await hands.begin("something")
        with (directory / "made").open("a") as made:
            made.write(f"{call.id}\n")
        await anyio.sleep(0.001)
        return "made"

    async def dig(call: Call, hands: Hands) -> str:
        await hands.permit(Asking("dig", "execute", "dig a hole", "/", "a hole"))
        return await make(call, hands)

    return [PlainTool("make", make, parallel=True), PlainTool("dig", dig)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/kill", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--directory", type=Path, default=None, help="where to leave the workspaces (a temporary one)")
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(1_000_000) if asked.seed is None else asked.seed
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as temporary:
        root: Path = asked.directory or Path(temporary)
        examined = acknowledged = 0
        for number in range(0, asked.kills, KILLS_PER_WORKSPACE):
            kills = min(KILLS_PER_WORKSPACE, asked.kills - number)
            lives, told = one_workspace(root / f"w{number}", kills, f"{seed}-{number}")
            examined += lives
            acknowledged += len(told.accepted)
        sys.stdout.write(
            f"{asked.kills} kills, {examined} starts examined, {acknowledged} prompts acknowledged, none lost"
            f" (seed {seed})\n"
        )
    return 0


def one_workspace(directory: Path, kills: int, name: str) -> tuple[int, Told]:
    """Kill so many, then let one live that looks at what they left."""
    dice, told, examined = random.Random(name), Told(), 0
    for life in range(kills):
        on_its_way = dice.random() < ON_ITS_WAY
        examined += one_life(directory, told, f"{name}-{life}", dice.random() * WORK_SECONDS_MAX, on_its_way=on_its_way)
    return examined + one_life(directory, told, f"{name}-last", 0.0, on_its_way=False), told


def one_life(directory: Path, told: Told, name: str, seconds: float, *, on_its_way: bool) -> bool:
    """Whether it had looked at everything before it was killed."""
    ear, mouth = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ear)
        os._exit(live(directory, told, name, mouth))
    os.close(mouth)
    heard = Ear(ear, told)
    try:
        if not on_its_way:
            heard.listen(EXAMINED_SECONDS_MAX, until_examined=True)
            hold(f"{name} looks at everything in time", heard.examined)
        heard.listen(seconds)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    # What it had said before it died was said.
    heard.listen(EXAMINED_SECONDS_MAX)
    os.close(ear)
    return heard.examined


class Ear:
    """Owns the end of a pipe at which a victim is heard."""

    def __init__(self, file: int, told: Told) -> None:
        self.examined = False
        self._file = file
        self._told = told
        self._rest = b""

    def listen(self, seconds: float, *, until_examined: bool = False) -> None:
        """For so long, or until it has looked at everything, or until it is dead and everything it said was heard."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not (until_examined and self.examined):
            if not select.select([self._file], [], [], left)[0] or not (more := os.read(self._file, 1 << 16)):
                return
            *lines, self._rest = (self._rest + more).split(b"\n")
            for line in lines:
                self.examined |= self._told.hear(line)


def live(directory: Path, told: Told, name: str, mouth: int) -> int:
    def tell(said: msgspec.Struct | str) -> None:
        os.write(mouth, msgspec.json.encode(said) + b"\n")

    try:
        anyio.run(partial(victim, directory, told, name, tell))
    except BaseException as broken:  # noqa: BLE001 - whatever it is, the nursery must hear of it
        tell(f"{name}: {reason(broken)}")
        return 1
    return 0


def reason(broken: BaseException) -> str:
    if isinstance(broken, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", broken)
        return "; ".join(map(reason, group.exceptions))
    return f"{type(broken).__name__}: {broken}"


if __name__ == "__main__":
    sys.exit(main())
