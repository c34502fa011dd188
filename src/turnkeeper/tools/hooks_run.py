"""Running hooks: all that fit an event at once, each in a shell of its own, none longer than its timeout.

A hook that is still running at its timeout is stopped with everything it started, and counts as failed. Nothing a
hook does raises here; what went wrong is among the aggregate's `failures`.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec

from turnkeeper.protocol.letters import whole_within
from turnkeeper.tools.hooks import (
    TIMEOUT_SECONDS,
    Hook,
    HookAggregate,
    HookResult,
    Said,
    aggregate,
    event_named,
    heard,
    matching,
)
from turnkeeper.tools.shell_env import MARKS, REMOVED, shell_path
from turnkeeper.tools.shell_process import CommandRefused, run, start

GRACE_SECONDS = 0.5
STDOUT_BYTES_MAX = 1_048_576
STDERR_BYTES_MAX = 65_536
VARIABLE_BYTES_MAX = 32_768
FAMILIES = ("CRUSH", "TURNKEEPER")

log = logging.getLogger(__name__)


class Hooks:
    """The hooks of one workspace, as its settings are now."""

    def __init__(
        self,
        config: Mapping[str, Sequence[Hook]],
        *,
        workdir: Path,
        env: Mapping[str, str],
        seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._hooks: dict[str, tuple[Hook, ...]] = {}
        for name, hooks in config.items():
            if event := event_named(name):
                self._hooks[event] = (*self._hooks.get(event, ()), *hooks)
        self._workdir = workdir
        self._env = env
        self._seconds = seconds

    async def run(self, event: str, payload: Mapping[str, Any]) -> HookAggregate:
        """Tell every hook that fits, and put together what they say. `payload` has at least a `session_id`."""
        event = event_named(event)
        hooks = matching(self._hooks.get(event, ()), _subject(event, payload))
        if not hooks:
            return HookAggregate()
        # A name on disk need not be text, and is told as nearly as it can be.
        told = whole_within(payload_of(event, payload, self._workdir))
        env = env_of(event, told, self._workdir, self._env)
        stdin = msgspec.json.encode(told)
        said: dict[int, Said] = {}

        async def ask(at: int, hook: Hook) -> None:
            said[at] = await self._ask(hook, event, stdin, env)

        async with anyio.create_task_group() as asking:
            for at, hook in enumerate(hooks):
                asking.start_soon(ask, at, hook)
        whole = aggregate([HookResult(hook, said[at]) for at, hook in enumerate(hooks)], told.get("tool_input"))
        for failure in whole.failures:
            log.warning("hook failed", extra={"event": event, "failure": failure})
        return whole

    async def _ask(self, hook: Hook, event: str, stdin: bytes, env: Mapping[str, str]) -> Said:
        streams = {"stdout": bytearray(), "stderr": bytearray()}
        # One more than is read, so that it shows when there was more.
        bounds = {"stdout": STDOUT_BYTES_MAX + 1, "stderr": STDERR_BYTES_MAX}

        def hear(stream: str, data: bytes) -> None:
            streams[stream] += data[: max(0, bounds[stream] - len(streams[stream]))]

        seconds = hook.timeout or self._seconds
        argv = (shell_path(env), "-c", hook.command)
        try:
            process = start(argv, cwd=self._workdir, env=env, stdin=stdin, apart=True, grace_seconds=GRACE_SECONDS)
        except CommandRefused as refused:
            return Said(failure=str(refused))
        if not await run(process, hear, seconds_max=seconds) or process.exit is None:
            return Said(failure=f"no answer within {seconds:g} seconds")
        if process.exit.status == 0 and len(streams["stdout"]) > STDOUT_BYTES_MAX:
            return Said(failure=f"it said more than {STDOUT_BYTES_MAX} bytes")
        out, errors = (bytes(stream).decode("utf-8", "replace") for stream in streams.values())
        return heard(process.exit.status, out, errors, event=event)


def _subject(event: str, payload: Mapping[str, Any]) -> str:
    """What a matcher is searched in."""
    key = {"SessionStart": "source", "Notification": "notification_type"}.get(event, "tool_name")
    return str(payload.get(key, ""))


def payload_of(event: str, payload: Mapping[str, Any], workdir: Path) -> dict[str, Any]:
    """What a hook reads. The event is named twice, so that hooks written for Claude Code find it too."""
    told = {"event": event, "hook_event_name": event, "session_id": "", "cwd": str(workdir), **payload}
    if "tool_name" in told:
        given = told.get("tool_input")
        told["tool_input"] = dict(cast(Mapping[str, Any], given)) if isinstance(given, Mapping) else {}
    return told


def env_of(event: str, told: Mapping[str, Any], workdir: Path, base: Mapping[str, str]) -> dict[str, str]:
    """What a hook finds in its environment: the client's, and the essentials of the event."""
    given: object = told.get("tool_input")
    tool_input = cast(Mapping[str, object], given if isinstance(given, Mapping) else {})
    essentials: dict[str, object] = {
        "EVENT": event,
        "TOOL_NAME": told.get("tool_name", ""),
        "SESSION_ID": told["session_id"],
        "CWD": told["cwd"],
        "PROJECT_DIR": str(workdir),
        "TOOL_INPUT_COMMAND": tool_input.get("command"),
        "TOOL_INPUT_FILE_PATH": tool_input.get("file_path"),
    }
    env = {name: value for name, value in base.items() if name not in REMOVED} | dict(MARKS)
    env["CLAUDE_PROJECT_DIR"] = str(workdir)
    for family in FAMILIES:
        for name, value in essentials.items():
            if isinstance(value, str) and "\0" not in value and len(value.encode()) <= VARIABLE_BYTES_MAX:
                env[f"{family}_{name}"] = value
    return env
