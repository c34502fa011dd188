"""What clients ask of runs: submit, watch, stop, and change the line. Each is one command told to one session."""

import hashlib
from dataclasses import dataclass, field

import msgspec

from turnkeeper.core import commands as told
from turnkeeper.core.ruletext import parse_rules
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import NO_CLIENT, ClientId, MessageId, RunId, SessionId
from turnkeeper.protocol.problems import PromptEmpty, RunNotFound, SessionMissing, SessionNotFound
from turnkeeper.protocol.requests import Verdict
from turnkeeper.protocol.runs import Prompt, Run, RunKind, RunOptions, RunState


@dataclass(frozen=True, slots=True)
class Submission:
    """A prompt as a client hands it in. Without a run id one is minted, and the prompt may join a run that goes on."""

    session_id: SessionId
    prompt: Prompt
    run_id: RunId | None = None
    options: RunOptions = field(default_factory=RunOptions)
    foldable: bool | None = None
    by: ClientId = NO_CLIENT


async def submit(workspace: Workspace, submission: Submission) -> RunId:
    """Accept a prompt; when this returns, it is on disk and will end exactly once."""
    if submission.prompt.is_empty:
        raise PromptEmpty
    if not submission.session_id:
        raise SessionMissing
    # A rule that cannot be read is the client's to mend, and now rather than in the middle of the run.
    parse_rules((*submission.options.allow, *submission.options.deny), Verdict.ALLOW)
    means = workspace.means
    run_id = submission.run_id or RunId(means.new_id())
    minted = submission.run_id is None
    await workspace.tell(
        submission.session_id,
        told.Submit(
            run_id=run_id,
            prompt=submission.prompt,
            digest=digest(submission.prompt),
            minted=minted,
            foldable=minted if submission.foldable is None else submission.foldable,
            options=submission.options,
            by=submission.by,
            user_message_id=MessageId(means.new_id()),
            at=means.now(),
            queue_max=means.knobs.queue_max,
        ),
    )
    return run_id


def digest(prompt: Prompt) -> str:
    """What tells one prompt from another under the same run id."""
    return hashlib.sha256(msgspec.json.encode(prompt)).hexdigest()


async def summarise(workspace: Workspace, session_id: SessionId, *, by: ClientId = NO_CLIENT) -> RunId:
    """Begin a summary, unless the session is busy; it is a run like any other and outlives whoever asked for it."""
    run_id = RunId(workspace.means.new_id())
    await workspace.tell(
        session_id,
        told.Submit(
            run_id=run_id,
            prompt=Prompt(""),
            run_kind=RunKind.SUMMARY,
            minted=True,
            only_if_idle=True,
            by=by,
            at=workspace.means.now(),
        ),
    )
    return run_id


async def find(workspace: Workspace, run_id: RunId) -> Run:
    run = await workspace.means.store.run(run_id)
    if run is None:
        raise RunNotFound(run_id)
    return run


async def line(workspace: Workspace, session_id: SessionId) -> tuple[list[Run], bool]:
    """The runs waiting in a session, first to run first, and whether they wait for a person to release them."""
    standing = await workspace.means.store.standing(session_id)
    if standing is None:
        return [], False
    return list(standing.queue), standing.gate is e.Gate.HELD


async def cancel(workspace: Workspace, session_id: SessionId, *, by: ClientId = NO_CLIENT) -> list[Run]:
    """Stop a session and empty its line. Answers with what was stopped, once it has stopped."""
    return await workspace.cancel(session_id, told.Cancel(by=by))


async def cancel_run(workspace: Workspace, run_id: RunId, *, by: ClientId = NO_CLIENT) -> Run:
    """Stop one run, wherever it stands; the line moves on. One that has ended is told as it ended."""
    run = await find(workspace, run_id)
    if run.state is not RunState.ENDED:
        await workspace.cancel(run.session_id, told.Cancel(run_id, by=by))
    return await find(workspace, run_id)


async def clear(workspace: Workspace, session_id: SessionId, *, by: ClientId = NO_CLIENT) -> None:
    if await workspace.means.store.session(session_id) is not None:
        await workspace.tell(session_id, told.ClearQueue(by=by))


async def edit(workspace: Workspace, run_id: RunId, text: str, *, by: ClientId = NO_CLIENT) -> Run:
    """Give a waiting prompt another text; what is attached to it stays."""
    run = await find(workspace, run_id)
    prompt = Prompt(text, run.prompt.attachments)
    if prompt.is_empty:
        raise PromptEmpty
    await workspace.tell(run.session_id, told.Edit(run_id, prompt, by=by))
    return await find(workspace, run_id)


async def steer(workspace: Workspace, run_id: RunId, *, foldable: bool, by: ClientId = NO_CLIENT) -> Run:
    """Let a waiting prompt join the run that goes on, at its next step."""
    run = await find(workspace, run_id)
    await workspace.tell(run.session_id, told.Steer(run_id, foldable, by=by))
    return await find(workspace, run_id)


async def move(workspace: Workspace, run_id: RunId, index: int, *, by: ClientId = NO_CLIENT) -> None:
    run = await find(workspace, run_id)
    await workspace.tell(run.session_id, told.Move(run_id, index, by=by))


async def release(workspace: Workspace, session_id: SessionId) -> None:
    if await workspace.means.store.session(session_id) is None:
        raise SessionNotFound(session_id)
    await workspace.tell(session_id, told.Release())
