"""A workspace's tools, by kind of agent, as its settings are now."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from turnkeeper.engine.means import HookVerdict
from turnkeeper.house.shell import shell_tool
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.settings.load import Loaded
from turnkeeper.tools.arguments import Unreadable, read_arguments
from turnkeeper.tools.hooks import Hook
from turnkeeper.tools.hooks_run import Hooks
from turnkeeper.tools.job_kill import job_kill_tool
from turnkeeper.tools.job_output import job_output_tool
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.registry import Limits, Surroundings, all_tools, built_in
from turnkeeper.tools.searching import searcher
from turnkeeper.tools.tool import Answer, Call, Tool
from turnkeeper.tools.web import Web
from turnkeeper.tools.web_search import DuckDuckGo

NANOSECONDS = 1_000_000_000


class WorkspaceTools:
    """Owns the tools that were made for the settings in force."""

    def __init__(self, loaded: Loaded, *, jobs: JobTable, log_file: Path) -> None:
        self._jobs = jobs
        self._log_file = log_file
        self._web = Web()
        self._loaded = loaded
        self._made = self._make()

    def changed(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._made = self._make()

    def tools(self, kind: str, *, interactive: bool) -> Sequence[Tool]:
        settings = self._loaded.settings
        agent = settings.agents.get(kind)
        return all_tools(
            kind,
            self._made,
            interactive=interactive,
            disabled=settings.config.options.disabled_tools,
            allowed=agent.allowed_tools if agent else None,
        )

    def understand(self, tool: Tool, call_id: str, raw: str) -> Call | Answer:
        meant = read_arguments(raw or "{}", tool.parameters)
        if isinstance(meant, Unreadable):
            return Answer(meant.problem, is_error=True)
        return Call(ToolCallId(call_id), tool.name, meant.input)

    def _make(self) -> tuple[Tool, ...]:
        around = Surroundings(
            searcher=searcher(),
            engine=DuckDuckGo(self._web),
            log_file=self._log_file,
            facts=self._facts,
            web=self._web,
            limits=self._limits(),
        )
        jobs = self._jobs
        return (*built_in(around), shell_tool(self._loaded, jobs), job_output_tool(jobs), job_kill_tool(jobs))

    def _limits(self) -> Limits:
        tools = self._loaded.settings.config.tools
        ls = tools.ls if tools else None
        plain = Limits()
        glob_limit = tools.glob.timeout if tools and tools.glob else None
        grep_limit = tools.grep.timeout if tools and tools.grep else None
        return Limits(
            ls_depth=(ls.max_depth if ls else 0) or 0,
            ls_items=(ls.max_items if ls else 0) or 0,
            glob_seconds=glob_limit / NANOSECONDS if glob_limit else plain.glob_seconds,
            grep_seconds=grep_limit / NANOSECONDS if grep_limit else plain.grep_seconds,
        )

    def _facts(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """What the info tool tells: never a value that may be a secret."""
        loaded, settings = self._loaded, self._loaded.settings
        config, options = settings.config, settings.config.options
        said = options.attribution
        flags = ("debug", "disable_auto_summarize", "disable_provider_auto_update", "disable_default_providers")
        return {
            "config_files": [(str(path), "") for path in loaded.files],
            "config": [("problem", loaded.problem.message)] if loaded.problem else [],
            "model": [(slot, f"{model.provider}/{model.model}") for slot, model in config.models.items()],
            "providers": [(name, one.type or "") for name, one in config.providers.items() if not one.disable],
            "lsp_configured": [(name, "") for name in sorted(config.lsp)],
            "mcp_configured": [(name, "") for name in sorted(config.mcp)],
            "hooks": [(event, str(len(hooks))) for event, hooks in sorted(config.hooks.items())],
            "tools": [(name, "disabled") for name in options.disabled_tools],
            "permissions": [
                *((name, "allowed") for name in (config.permissions.allowed_tools if config.permissions else ())),
                *((f"{rule.tool}({rule.subject})", rule.verdict) for rule in settings.rules),
            ],
            "options": [("data_directory", str(settings.data_dir)), *((f, "on") for f in flags if getattr(options, f))],
            "attribution": [("trailer_style", said.trailer_style)] if said and said.trailer_style else [],
        }


class WorkspaceHooks:
    """The engine's hooks, as programs of the user's."""

    def __init__(self, loaded: Loaded) -> None:
        settings = loaded.settings
        config = {
            event: tuple(msgspec.convert(msgspec.to_builtins(hook), Hook) for hook in hooks)
            for event, hooks in settings.config.hooks.items()
        }
        seconds = settings.waits.hook_seconds
        self._hooks = Hooks(config, workdir=settings.workdir, env=loaded.environment, seconds=seconds)

    async def before_tool(self, call: Call, *, session_id: str) -> HookVerdict:
        said = await self._hooks.run("PreToolUse", self._payload(call, session_id))
        return HookVerdict(
            refusal=said.refusal,
            halt=said.halt,
            approved=said.decision == "allow",
            demand=(said.reason or "a hook wants a person to decide") if said.decision == "ask" else "",
            call=Call(call.id, call.name, said.updated_input) if said.updated_input is not None else None,
            context=said.context,
            metadata=said.metadata(),
        )

    async def prompt_submitted(self, prompt: str, *, session_id: str, first: bool) -> HookVerdict:
        asked = [("UserPromptSubmit", {"session_id": session_id, "prompt": prompt})]
        if first:
            asked.insert(0, ("SessionStart", {"session_id": session_id, "source": "startup"}))
        said = [await self._hooks.run(event, payload) for event, payload in asked]
        no = next((one for one in said if one.refusal), None)
        told = [line for one in said for line in (one.context, *(f"A hook failed: {why}" for why in one.failures))]
        return HookVerdict(
            refusal=(no.reason or "a hook refused this prompt") if no else "",
            halt=any(one.halt for one in said),
            context="\n".join(filter(None, told)),
        )

    async def after_tool(self, call: Call, answer: Answer, *, session_id: str) -> HookVerdict:
        response = {"content": answer.content, "is_error": answer.is_error}
        said = await self._hooks.run("PostToolUse", {**self._payload(call, session_id), "tool_response": response})
        refusal = f"A hook objects: {said.reason or 'no reason was given'}" if said.decision == "deny" else ""
        return HookVerdict(refusal=refusal, halt=said.halt, context=said.context, metadata=said.metadata())

    async def happened(self, event: str, payload: Mapping[str, object]) -> None:
        await self._hooks.run(event, payload)

    def _payload(self, call: Call, session_id: str) -> dict[str, object]:
        return {
            "session_id": session_id,
            "tool_name": call.name,
            "tool_input": dict(call.input),
            "tool_call_id": call.id,
        }
