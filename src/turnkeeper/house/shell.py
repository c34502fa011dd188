"""The shell of a workspace as its settings want it: what is banned, where it runs, how long it is waited for."""

from pathlib import Path

from turnkeeper.settings.dirs import under_home
from turnkeeper.settings.load import Loaded
from turnkeeper.settings.settings import Settings
from turnkeeper.tools.bash import Waits, bash_tool
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.sandbox import Sandbox
from turnkeeper.tools.shell_bans import STANDARD, Bans
from turnkeeper.tools.tool import Tool

GENERATED = "Generated with Turnkeeper"
ENDING = "End the message of each commit with the line:"


def shell_tool(loaded: Loaded, jobs: JobTable) -> Tool:
    settings = loaded.settings
    return bash_tool(
        jobs,
        bans=bans(settings),
        sandbox=sandbox(loaded) if settings.shell.sandbox else None,
        waits=Waits(
            background_after_seconds=settings.waits.background_after_seconds,
            seconds_max=settings.waits.tool_seconds,
        ),
        closing=closing(settings),
    )


def bans(settings: Settings) -> Bans:
    shell = settings.shell
    return STANDARD.without(*shell.unbanned).adding(*shell.banned)


def sandbox(loaded: Loaded) -> Sandbox:
    """The workspace may be written, but for what would run later or is ours: git's hooks and settings, our data."""
    settings = loaded.settings
    workdir = settings.workdir.resolve()
    more = (under_home(path, loaded.environment) for path in settings.shell.sandbox_writable)
    git = workdir / ".git"
    return Sandbox(
        writable=(workdir, *(path.resolve() for path in more if path.exists())),
        readonly=(git / "hooks", git / "config", Path(settings.data_dir).resolve()),
        network=settings.shell.sandbox_network,
    )


def closing(settings: Settings) -> str:
    """How commits and pull requests are to say that a machine helped."""
    said = settings.config.options.attribution
    model = settings.selected("large")
    name = f"Turnkeeper:{model.model}" if model else "Turnkeeper"
    lines: list[str] = []
    match said.trailer_style if said else "":
        case "assisted-by":
            lines.append(f"{ENDING} Assisted-by: {name}")
        case "co-authored-by":
            lines.append(f"{ENDING} Co-Authored-By: {name} <noreply@turnkeeper.invalid>")
        case _:
            pass
    if said and said.generated_with:
        lines.append(f"Say above it, and at the end of a pull request: {GENERATED}")
    return "\n".join(lines)
