"""Using the tools of one step: each call at most once, results in the calls' order, none begun after a cancel.

A call's effect is journalled as intended before any call of the step begins, as started by the tool itself right
before it acts, and as finished together with its result; so a person can see after a crash what may have run.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import anyio
import msgspec
from msgspec.structs import replace

from turnkeeper.engine.hands import CallHands
from turnkeeper.engine.means import HookVerdict
from turnkeeper.engine.running import Running, RunOver
from turnkeeper.models.model import ToolSpec
from turnkeeper.protocol import events as e
from turnkeeper.protocol.letters import whole
from turnkeeper.protocol.messages import Finish, FinishReason, ToolCall, ToolResult
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.sessions import Effect, EffectState
from turnkeeper.tools.tool import Answer, Call, Denied, Tool

log = logging.getLogger(__name__)

NOT_USED = "The turn ended before this tool was used"


def specs(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in tools)


async def use_tools(running: Running, calls: Sequence[ToolCall]) -> None:
    """Use the tools the model asked for; ends when every call has its result on disk."""
    options = running.run.options
    toolbox = running.workspace.means.toolbox
    tools = {tool.name: tool for tool in toolbox.tools(options.agent, interactive=options.interactive)}
    await running.say(*(e.EffectNoted(_intended(running, call)) for call in calls))
    for group in _groups(calls, tools):
        if await _use_together(running, group, tools):
            # Whoever said no to one call is not asked about the next.
            await leave_unused(running)
            await _end_turn(running)
            return


async def leave_unused(running: Running) -> None:
    """Calls that will not be made get a result that says so."""
    left = [ToolResult(call, name, NOT_USED, is_error=True) for call, name in running.unanswered.items()]
    running.unanswered.clear()
    await running.say(*(fact for result in left for fact in running.answered(result)))


def _groups(calls: Sequence[ToolCall], tools: Mapping[str, Tool]) -> Iterator[Sequence[ToolCall]]:
    """Calls that may overlap and stand next to each other overlap; every other one stands alone."""
    for overlap, together in groupby(calls, key=lambda call: call.name in tools and tools[call.name].parallel):
        batch = list(together)
        yield from [batch] if overlap else [[call] for call in batch]


def _intended(running: Running, call: ToolCall) -> Effect:
    now = running.workspace.means.now()
    return Effect(call.id, running.session.id, running.run.run_id, call.name, EffectState.INTENDED, at=now)


async def _use_together(running: Running, calls: Sequence[ToolCall], tools: dict[str, Tool]) -> bool:
    answers: list[Answer | None] = [None] * len(calls)
    done = [anyio.Event() for _ in calls]
    limit = anyio.CapacityLimiter(running.workspace.means.knobs.parallel_tools_max)
    stop = False
    failure: Problem | RunOver | None = None

    async def use(index: int) -> None:
        async with limit:
            answers[index] = await _use(running, calls[index], tools)
        done[index].set()

    async with anyio.create_task_group() as using:
        for index in range(len(calls)):
            using.start_soon(use, index)
        try:
            for index, call in enumerate(calls):
                await done[index].wait()
                answer = answers[index]
                assert answer is not None
                stop |= answer.stop_turn
                # Before it is said: a letter that was sent is carried out, whoever stops waiting for it.
                running.unanswered.pop(call.id, None)
                await running.say(*running.answered(_result(call, answer)))
        except (Problem, RunOver) as over:  # kept from the task group, which would wrap it
            failure = over
            using.cancel_scope.cancel()
    if failure:
        raise failure
    return stop


def _result(call: ToolCall, answer: Answer) -> ToolResult:
    return ToolResult(
        tool_call_id=call.id,
        name=call.name,
        content=whole(answer.content),
        data=answer.data,
        mime_type=answer.mime_type,
        metadata=whole(answer.metadata),
        is_error=answer.is_error,
    )


async def _use(running: Running, made: ToolCall, tools: dict[str, Tool]) -> Answer:
    """One call, whatever becomes of it: a tool's failure is an answer the model can read."""
    tool = tools.get(made.name)
    if tool is None:
        known = ", ".join(sorted(tools))
        return Answer(f"There is no tool named {made.name}. Available tools: {known}", is_error=True)
    call = running.workspace.means.toolbox.understand(tool, made.id, made.input)
    if isinstance(call, Answer):
        return call
    try:
        return await _use_hooked(running, tool, call)
    except Exception as error:  # noqa: BLE001 - a hook is a stranger's program
        return Answer(_hook_failed(call, error), is_error=True)


def _hook_failed(call: Call, error: Exception) -> str:
    log.warning("hook failed", extra={"tool": call.name, "error": type(error).__name__})
    return f"A hook failed: {str(error) or type(error).__name__}"


async def _use_hooked(running: Running, tool: Tool, call: Call) -> Answer:
    """The call between what the user's programs say before it and what they hear after it."""
    hooks = running.workspace.means.hooks
    verdict = await hooks.before_tool(call, session_id=running.session.id) if hooks else HookVerdict()
    if verdict.refusal:
        return with_metadata(Answer(verdict.refusal, is_error=True, stop_turn=verdict.halt), "hook", verdict.metadata)
    call = verdict.call or call
    answer = await _attempted(tool, call, CallHands(running, call, approved=verdict.approved, demand=verdict.demand))
    if hooks is None:
        return answer
    try:
        answer = with_metadata(_with(answer, verdict.context), "hook", verdict.metadata)
        after = await hooks.after_tool(call, answer, session_id=running.session.id)
        said = _with(answer, after.context, after.refusal)
        said = replace(said, stop_turn=said.stop_turn or after.halt)
        return with_metadata(said, "hook_after", after.metadata)
    except Exception as error:  # noqa: BLE001 - a hook is a stranger's program, and the call was made already
        return _with(answer, _hook_failed(call, error))


def _with(answer: Answer, *said: str) -> Answer:
    """The answer, and below it what hooks have to say."""
    return replace(answer, content="\n".join(filter(None, (answer.content, *said)))) if any(said) else answer


def with_metadata(answer: Answer, key: str, value: Mapping[str, object]) -> Answer:
    """The answer with one more thing for faces beside what the tool itself tells them."""
    if not value:
        return answer
    known = msgspec.json.decode(answer.metadata or "{}", type=dict[str, object])
    return replace(answer, metadata=msgspec.json.encode({**known, key: value}).decode())


async def _attempted(tool: Tool, call: Call, hands: CallHands) -> Answer:
    try:
        answer = await tool.use(call, hands)
        # A call that acted on nothing has only its answer to be held back.
        await hands.look()
        return answer
    except Denied as denied:
        return Answer(str(denied), is_error=True, stop_turn=denied.ends_turn)
    except Exception as error:  # noqa: BLE001 - a tool is a stranger's code; the model can read what went wrong
        log.warning("tool failed", extra={"tool": call.name, "error": type(error).__name__})
        return Answer(f"The tool failed: {str(error) or type(error).__name__}", is_error=True)


async def _end_turn(running: Running) -> None:
    """The results are not shown to the model: its answer ended the turn after all."""
    last = running.last
    if last is None:
        return
    at = next((index for index, part in enumerate(last.parts) if isinstance(part, Finish)), len(last.parts))
    now = running.workspace.means.now()
    await running.say(e.PartSaid(last.id, at, Finish(FinishReason.END_TURN, now // 1000), at=now))
