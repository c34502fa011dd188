"""Themes: two of our own, those Textual brings, and people's own from the settings.

A theme names colours and nothing else. `auto` follows the terminal: the light one where it says that its background is
light (`COLORFGBG`), else the dark one; `ansi-dark` and `ansi-light` use the terminal's own palette.
"""

from collections.abc import Iterable, Mapping

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="turnkeeper-dark",
    primary="#7aa2f7",
    secondary="#9ece6a",
    accent="#e0af68",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#c8d0e0",
    background="#14161b",
    surface="#1a1d24",
    panel="#232732",
    dark=True,
    variables={"footer-background": "#14161b", "border": "#343a48", "block-cursor-text-style": "none"},
)
LIGHT = Theme(
    name="turnkeeper-light",
    primary="#2f5fd0",
    secondary="#3f7d20",
    accent="#9a6700",
    warning="#9a6700",
    error="#c4314b",
    success="#3f7d20",
    foreground="#23272f",
    background="#fbfbf9",
    surface="#f1f1ee",
    panel="#e6e6e1",
    dark=False,
    variables={"footer-background": "#fbfbf9", "border": "#c9c9c2", "block-cursor-text-style": "none"},
)
OURS = (DARK, LIGHT)
COLOURS = (
    *("primary", "secondary", "accent", "warning", "error", "success"),
    *("foreground", "background", "surface", "panel", "boost"),
)


def all_themes(own: Mapping[str, Mapping[str, str]]) -> dict[str, Theme]:
    """By name: ours, Textual's, and what the settings add or replace. One that cannot be read is left out."""
    themes = {theme.name: theme for theme in (*OURS, *BUILTIN_THEMES.values()) if not theme.name.startswith("textual-")}
    for name, said in own.items():
        theme = own_theme(name, said)
        if isinstance(theme, Theme):
            themes[name] = theme
    return themes


def own_theme(name: str, said: Mapping[str, str]) -> Theme | str:
    """A theme from the settings, or what is wrong with it. What it does not say is as in ours."""
    base = LIGHT if said.get("dark", "true").lower() in ("false", "no", "0") else DARK
    if unknown := sorted(set(said) - {*COLOURS, "dark"}):
        return f"theme {name}: there is no colour {unknown[0]}; there are {', '.join(COLOURS)}"
    colours = {colour: getattr(base, colour) for colour in COLOURS}
    for colour, value in said.items():
        if colour == "dark":
            continue
        try:
            Color.parse(value)
        except ColorParseError:
            return f"theme {name}: {colour} is no colour: {value}"
        colours[colour] = value
    return Theme(name=name, dark=base.dark, variables=dict(base.variables), **colours)


def wrong_themes(own: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    """What is wrong with people's own themes, a sentence each."""
    return [theme for name, said in own.items() if isinstance(theme := own_theme(name, said), str)]


def chosen(wish: str, known: Mapping[str, Theme], env: Mapping[str, str]) -> str:
    """The name of the theme to show."""
    if wish in known:
        return wish
    return LIGHT.name if is_light(env) else DARK.name


def is_light(env: Mapping[str, str]) -> bool:
    """Whether the terminal says that its background is light: `COLORFGBG` ends with 7, or 9 to 15."""
    last = env.get("COLORFGBG", "").rpartition(";")[2]
    return last.isdigit() and (int(last) == 7 or 9 <= int(last) <= 15)
