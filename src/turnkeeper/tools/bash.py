"""Tool `bash`: one command line in a shell of its own.

What the command starts belongs to it. Cancelling the call stops all of it and returns when nothing is left; a command
that takes long, or leaves something running, becomes a background job that `job_output` reads and `job_kill` stops.
Nothing is asked of a person at the keyboard: what would ask fails at once, with a hint.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
from anyio import to_thread
from msgspec import Meta, structs

from turnkeeper.tools.job import CommandLine, Job, now_ms
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.making import Made, Parameters, Refusal, noted
from turnkeeper.tools.sandbox import Sandbox
from turnkeeper.tools.shell import Ask, Banned, Safe, judge
from turnkeeper.tools.shell_bans import STANDARD, Bans
from turnkeeper.tools.shell_env import agent_env, shell_path
from turnkeeper.tools.shell_hints import editor_in, hint
from turnkeeper.tools.shell_output import CELLS_MAX
from turnkeeper.tools.shell_process import CommandRefused
from turnkeeper.tools.shell_reach import strays
from turnkeeper.tools.tool import Answer, Asking, Hands, Tool

AUTO_BACKGROUND_SECONDS = 60
SETTLE_SECONDS = 1.0
LEFT_SECONDS = 0.25
SHOW_SECONDS = 0.1
SHOWN_CHARACTERS_MAX = 8_192
NO_OUTPUT = "no output"


class BashParameters(Parameters, frozen=True):
    description: Annotated[str, Meta(description="What the command does, in at most 30 characters.")]
    command: Annotated[str, Meta(description="The command line to run.")]
    working_dir: Annotated[str, Meta(description="Where to run it (default: the workspace).")] = ""
    run_in_background: Annotated[bool, Meta(description="Answer at once and keep it running.")] = False
    detach: Annotated[
        bool, Meta(description="In the background, and on when the workspace is closed: only if a person wants that.")
    ] = False
    auto_background_after: Annotated[
        int, Meta(description="Seconds after which it is kept running in the background (default 60).")
    ] = AUTO_BACKGROUND_SECONDS
    timeout: Annotated[int, Meta(description="Seconds after which it is stopped (default: never).")] = 0


@dataclass(frozen=True)
class Waits:
    """How long a call stays with its command, in seconds."""

    background_after_seconds: float = AUTO_BACKGROUND_SECONDS
    """Until a command goes on in the background, where the call says nothing else."""
    seconds_max: float = 0
    """Until a command is stopped, where the call says nothing else; 0 means never."""
    settle_seconds: float = SETTLE_SECONDS
    """With which a command in the background can still fail at once."""
    left_seconds: float = LEFT_SECONDS
    """Which what a command started has to end after it."""
    show_seconds: float = SHOW_SECONDS
    """Between two showings of new output."""


@dataclass(frozen=True)
class BashTool(Made[BashParameters]):
    """As every made tool, with what is banned in its description."""

    bans: Bans = STANDARD
    closing: str = ""

    @property
    def description(self) -> str:
        banned = ", ".join(sorted(self.bans.commands))
        forms = ", ".join(map(str, self.bans.forms))
        text = super().description.replace("{banned}", banned).replace("{forms}", forms)
        return text.replace("{cells_max}", str(CELLS_MAX)).replace("{closing}", self.closing).strip()


def bash_tool(
    jobs: JobTable,
    *,
    bans: Bans = STANDARD,
    sandbox: Sandbox | None = None,
    waits: Waits | None = None,
    closing: str = "",
) -> Tool:
    """`closing` is what the description says about the end of commit messages and pull requests."""
    shell = _Shell(jobs, bans, sandbox, waits or Waits())
    return BashTool("bash", BashParameters, shell.act, bans=bans, closing=closing)


@dataclass(frozen=True)
class _Shell:
    jobs: JobTable
    bans: Bans
    sandbox: Sandbox | None
    waits: Waits

    async def act(self, asked: BashParameters, hands: Hands) -> Answer:
        if not asked.command.strip():
            raise Refusal("the command is empty")
        workdir = (hands.workdir / asked.working_dir).resolve() if asked.working_dir else hands.workdir
        if not workdir.is_dir():
            raise Refusal(f"there is no such directory: {workdir}")
        asking = await self._asking(asked, hands.workdir, workdir)
        parts = asking.subjects
        if editor := editor_in(parts):
            raise Refusal(
                f"{editor} would wait for somebody at the keyboard, and nobody is there; "
                "change files with edit or write, or with a program that takes what to do as an option"
            )
        await hands.permit(outliving(asking) if asked.detach else asking)
        if self.sandbox:
            await to_thread.run_sync(self.sandbox.probe)
        await hands.begin(asked.command)
        try:
            job = self.jobs.start(hands.session_id, self._line(asked, hands, workdir, parts))
        except CommandRefused as refused:
            raise Refusal(str(refused)) from refused
        try:
            await self._watch(job, asked, hands)
        except BaseException:
            # Cancelled, most likely. The call ends when nothing of the command is left.
            with anyio.CancelScope(shield=True):
                await self.jobs.kill(job)
            if job.process.stopped:
                hands.progress(f"\n[stopped: {', '.join(map(str, job.process.stopped))}]\n")
            self.jobs.forget(job)
            raise
        return self._answer(job, asked)

    async def _asking(self, asked: BashParameters, workspace: Path, workdir: Path) -> Asking:
        params = {**structs.asdict(asked), "working_dir": str(workdir)}
        if not asked.detach:
            del params["detach"]  # It is said where it is so, and to others a call looks as it always did.
        asking = Asking(
            tool="bash",
            action="execute",
            description=asked.description or asked.command,
            path=str(workdir),
            subject=asked.command,
            params=params,
        )
        there = f"cd {shlex.quote(str(workdir))}"
        # What was allowed here was not allowed everywhere.
        outside = () if workdir.is_relative_to(workspace) else (there,)
        match judge(asked.command, inside=str(workspace), bans=self.bans):
            case Banned(reason):
                raise Refusal(f"the command is not allowed here: {reason}")
            case Ask(parts, _, shadows, hides):
                return structs.replace(asking, subjects=(*parts, *outside), shadows=shadows, hides=hides)
            case Safe(parts, shows, moves):
                elsewhere = f"{there} && {asked.command}"
                if workdir != workspace and not isinstance(judge(elsewhere, inside=str(workspace)), Safe):
                    return structs.replace(asking, subjects=(*parts, *outside))
                look = partial(strays, shows, moves, workdir=str(workdir), workspace=str(workspace))
                stray = await to_thread.run_sync(look)
                told = f"{asking.description} ({stray})" if stray else asking.description
                return structs.replace(asking, description=told, subjects=parts, safe=not stray)

    def _line(self, asked: BashParameters, hands: Hands, workdir: Path, parts: Sequence[str]) -> CommandLine:
        env = agent_env(hands.env)
        argv: Sequence[str] = (shell_path(env), "-c", asked.command)
        return CommandLine(
            command=asked.command,
            argv=tuple(self.sandbox.wrapped(argv, workdir=workdir, parts=parts) if self.sandbox else argv),
            workdir=workdir,
            env=env,
            description=asked.description,
            file=hands.data_dir / "output" / f"{hands.tool_call_id}.log",
            seconds_max=max(0, asked.timeout) or self.waits.seconds_max or None,
            detached=asked.detach,
        )

    async def _watch(self, job: Job, asked: BashParameters, hands: Hands) -> None:
        """Stay with the command until it has ended, or should go on in the background."""
        said = asked.auto_background_after
        usual = said == AUTO_BACKGROUND_SECONDS
        foreground_seconds = self.waits.background_after_seconds if usual else float(max(0, said))
        seconds = self.waits.settle_seconds if asked.run_in_background or asked.detach else foreground_seconds
        async with anyio.create_task_group() as showing:
            showing.start_soon(self._show, job, hands)
            with anyio.move_on_after(seconds):
                await job.process.exited.wait()
                with anyio.move_on_after(self.waits.left_seconds):
                    await job.process.ended.wait()
            showing.cancel_scope.cancel()
        if job.done:
            self.jobs.forget(job)
        else:
            job.in_background = True

    async def _show(self, job: Job, hands: Hands) -> None:
        """New output, at most so often; what came too fast to be read is left out."""
        position = 0
        while True:
            await job.more(position)
            text, position = job.output.latest(position, SHOWN_CHARACTERS_MAX)
            hands.progress(text)
            await anyio.sleep(self.waits.show_seconds)

    def _answer(self, job: Job, asked: BashParameters) -> Answer:
        output = job.output.text()
        metadata: dict[str, object] = {
            "start_time": job.started_at,
            "end_time": now_ms(),
            "output": output,
            "description": asked.description,
            "working_directory": str(job.line.workdir),
        }
        if job.in_background:
            metadata |= {"background": True, "shell_id": job.id}
        lines = [output.rstrip("\n")] if output.strip() else []
        lines += remarks(job)
        if job.in_background:
            lines.append(background_note(job, asked_for=asked.run_in_background or asked.detach))
        lines += [ended_note(ended) for ended in self.jobs.news(job.session_id)]
        if not lines:
            return Answer(NO_OUTPUT, metadata=noted(metadata))
        return Answer("\n".join([*lines, "", f"<cwd>{job.line.workdir}</cwd>"]), metadata=noted(metadata))


def outliving(asking: Asking) -> Asking:
    """What outlives the workspace is more than the command alone: what allows that does not allow this."""
    return structs.replace(
        asking,
        description=f"{asking.description} (goes on when the workspace is closed)",
        subjects=(*(asking.subjects or (asking.subject,)), f"nohup {asking.subject}"),
        safe=False,
    )


def remarks(job: Job) -> list[str]:
    """How the command ended, where its output is, and why it may have failed."""
    lines: list[str] = []
    process, output = job.process, job.output
    if output.file is not None:
        kept = "The whole output" if output.file_is_whole else "The beginning of the output"
        lines.append(f"{kept} ({output.total_bytes} bytes) is in {output.file}")
    if job.timed_out:
        lines.append(f"The command was stopped after {job.line.seconds_max:g} seconds, as its timeout says")
    if process.stopped:
        lines.append(f"Stopped: {', '.join(map(str, process.stopped))}")
    if process.stuck:
        lines.append(f"Could not be stopped: {', '.join(map(str, process.stuck))}")
    if process.exit is not None and process.exit.code != 0:
        by = f" (killed by {process.exit.signal})" if process.exit.signal else ""
        lines.append(f"Exit code {process.exit.status}{by}")
        if advice := hint(output.text()):
            lines.append(f"Hint: {advice}")
    return lines


def ended_note(job: Job) -> str:
    """Said with the next command, so that nobody has to ask again and again whether a job is done."""
    code = f" with exit code {job.process.exit.status}" if job.process.exit else ""
    return f"Background job {job.id} ({job.line.command}) has ended{code}. Use job_output to read what it said."


def background_note(job: Job, *, asked_for: bool) -> str:
    ways = "Use job_output to read its output and job_kill to stop it."
    if job.exited:
        left = ", ".join(map(str, job.process.still_left() or job.process.left))
        return f"The command has ended, but what it started still runs as background job {job.id}: {left}. {ways}"
    if asked_for:
        on = ", and goes on when the workspace is closed" if job.line.detached else ""
        return f"The command runs as background job {job.id}{on}. {ways}"
    return f"The command still runs; it was moved to the background as job {job.id}. {ways}"
