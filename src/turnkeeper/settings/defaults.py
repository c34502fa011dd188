"""What holds when nobody has said otherwise, where the default is more than a number: paths, files, names of tools."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from turnkeeper.protocol.config import Attribution, Config
from turnkeeper.settings import dirs
from turnkeeper.settings.settings import Agent

CONTEXT_PATHS = (
    ".cursor/rules/",
    ".cursorrules",
    ".github/copilot-instructions.md",
    "AGENTS.md",
    "Agents.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "CRUSH.local.md",
    "CRUSH.md",
    "Crush.local.md",
    "Crush.md",
    "GEMINI.md",
    "agents.md",
    "crush.local.md",
    "crush.md",
    "gemini.md",
)
READ_ONLY_TOOLS = (
    *("glob", "grep", "ls", "lsp_call_hierarchy", "lsp_definition", "lsp_symbols", "sourcegraph", "view"),
)
CODER, TASK = "coder", "task"
AGENTS = {CODER: Agent(), TASK: Agent(allowed_tools=READ_ONLY_TOOLS, allowed_mcp={})}
INITIALIZE_AS = "AGENTS.md"
PROJECT_SKILL_DIRS = (".agents/skills", ".crush/skills", ".turnkeeper/skills", ".claude/skills", ".cursor/skills")


def completed(config: Config, *, env: Mapping[str, str], data_dir: Path) -> Config:
    """The configuration with what a client expects to find in it."""
    options = config.options
    said = options.attribution or Attribution()
    attribution = msgspec.structs.replace(
        said,
        trailer_style=said.trailer_style or "assisted-by",
        generated_with=True if said.generated_with is None else said.generated_with,
    )
    return msgspec.structs.replace(
        config,
        options=msgspec.structs.replace(
            options,
            context_paths=tuple(sorted({*CONTEXT_PATHS, *options.context_paths})),
            global_context_paths=options.global_context_paths or global_context_paths(env),
            data_directory=str(data_dir),
            initialize_as=options.initialize_as or INITIALIZE_AS,
            attribution=attribution,
            notifications=options.notifications or "auto",
        ),
    )


def global_context_paths(env: Mapping[str, str]) -> tuple[str, ...]:
    places = (
        dirs.crush_config_dir(env) / "CRUSH.md",
        dirs.find_dirs(env).config / "AGENTS.md",
        dirs.xdg(env, "XDG_CONFIG_HOME", ".config") / "AGENTS.md",
    )
    return tuple(map(str, places))


def skill_dirs(config: Config, *, env: Mapping[str, str], workdir: Path) -> tuple[Path, ...]:
    """Where skills are looked for; of two with the same name the later one is meant."""
    home, own = dirs.home_dir(env), env.get("CRUSH_SKILLS_DIR", "")
    settings = dirs.xdg(env, "XDG_CONFIG_HOME", ".config")
    usual = (dirs.crush_config_dir(env) / "skills", dirs.find_dirs(env).config / "skills", settings / "agents/skills")
    everywhere = (Path(own),) if own else (*usual, home / ".agents/skills", home / ".claude/skills")
    project = dirs.project_dirs(workdir)
    here = [folder / name for folder in dict.fromkeys((workdir, project[0])) for name in PROJECT_SKILL_DIRS]
    said = [workdir / dirs.under_home(path, env) for path in config.options.skills_paths]
    return tuple(dict.fromkeys([*said, *everywhere, *here]))


def agents(said: Mapping[str, Agent]) -> dict[str, Agent]:
    """The two that are always there, and those of the configuration; what is said of one replaces it."""
    return {**AGENTS, **said}


def allowed_tools(agent: Agent, *, known: tuple[str, ...], disabled: tuple[str, ...]) -> tuple[str, ...]:
    """The built-in tools an agent has, in the order of `known`."""
    return tuple(
        tool for tool in known if tool not in disabled and (agent.allowed_tools is None or tool in agent.allowed_tools)
    )
