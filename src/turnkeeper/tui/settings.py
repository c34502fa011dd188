"""How this terminal looks and behaves, from the workspace's configuration. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from turnkeeper.protocol.config import Config

STYLES = ("auto", "native", "osc", "bell", "disabled")


@dataclass(frozen=True, slots=True)
class Settings:
    theme: str = "auto"
    themes: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    glyphs: str = ""
    plain: bool = False
    compact: bool = False
    transparent: bool = False
    split_diffs: bool | None = None
    """None: by the room there is."""
    vim: bool = False
    timestamps: bool = False
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    notifications: str = "auto"
    progress: bool = True


def settings_of(config: Config) -> Settings:
    options = config.options
    tui = options.tui
    return Settings(
        theme=tui.theme or "auto",
        themes=tui.themes,
        glyphs=tui.glyphs,
        plain=tui.plain,
        compact=tui.compact_mode,
        transparent=bool(tui.transparent),
        split_diffs={"split": True, "unified": False}.get(tui.diff_mode),
        vim=tui.vim,
        timestamps=tui.timestamps,
        keys=tui.keys,
        notifications=options.notifications if options.notifications in STYLES else "auto",
        progress=options.progress is not False,
    )
