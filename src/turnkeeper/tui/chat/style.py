"""How each name that drawing uses looks: the theme's colours, so that every theme, also one without colours, fits."""

CSS = """
Page {
    height: 1fr;
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
    scrollbar-gutter: stable;
    scrollbar-background: $background;
    scrollbar-background-hover: $background;
    scrollbar-background-active: $background;
    scrollbar-color: $foreground 20%;
    scrollbar-color-hover: $foreground 35%;
    scrollbar-color-active: $primary;
    background: $background;
    color: $foreground;
    & > .chat--muted { color: $foreground-muted; }
    & > .chat--hint { color: $foreground-muted; text-style: italic; }
    & > .chat--strong { text-style: bold; }
    & > .chat--emphasis { text-style: italic; }
    & > .chat--struck { text-style: strike; }
    & > .chat--title { text-style: bold; }
    & > .chat--subject { color: $foreground; }
    & > .chat--good { color: $text-success; }
    & > .chat--bad { color: $text-error; }
    & > .chat--warn { color: $text-warning; }
    & > .chat--accent { color: $text-accent; }
    & > .chat--author { color: $text-primary; text-style: bold; }
    & > .chat--prompt { color: $primary; }
    & > .chat--thought { color: $foreground-muted; text-style: italic; }
    & > .chat--heading { color: $text-primary; text-style: bold; }
    & > .chat--link { color: $text-primary; text-style: underline; }
    & > .chat--code { color: $text-accent; }
    & > .chat--quote { color: $foreground-muted; }
    & > .chat--rule { color: $foreground 30%; }
    & > .chat--gutter { color: $foreground 40%; }
    & > .chat--added { background: $success 14%; }
    & > .chat--removed { background: $error 14%; }
    & > .chat--added-word { background: $success 34%; text-style: bold; }
    & > .chat--removed-word { background: $error 34%; text-style: bold; }
    & > .chat--banner { color: $primary; text-style: bold reverse; }
    & > .chat--focus { color: $accent; text-style: bold; }
    & > .chat--found { background: $warning 30%; }
    & > .chat--found-here { color: $warning; text-style: bold reverse; }
    & > .chat--code-keyword { color: $text-primary; text-style: bold; }
    & > .chat--code-string { color: $text-success; }
    & > .chat--code-number { color: $text-warning; }
    & > .chat--code-comment { color: $foreground-muted; text-style: italic; }
    & > .chat--code-name { color: $text-secondary; }
    & > .chat--code-type { color: $text-accent; }
    & > .chat--code-builtin { color: $text-accent; }
    /* A terminal's own colours cannot be mixed: what is faint elsewhere is dim here, and what is tinted is coloured. */
    &:ansi > .chat--muted { text-style: dim; }
    &:ansi > .chat--hint { text-style: dim italic; }
    &:ansi > .chat--thought { text-style: dim italic; }
    &:ansi > .chat--quote { text-style: dim; }
    &:ansi > .chat--rule { color: ansi_default; text-style: dim; }
    &:ansi > .chat--gutter { color: ansi_default; text-style: dim; }
    &:ansi > .chat--added { background: transparent; color: ansi_green; }
    &:ansi > .chat--removed { background: transparent; color: ansi_red; }
    &:ansi > .chat--added-word { background: transparent; color: ansi_green; text-style: bold reverse; }
    &:ansi > .chat--removed-word { background: transparent; color: ansi_red; text-style: bold reverse; }
    &:ansi > .chat--found { background: transparent; color: ansi_yellow; text-style: underline; }
}
"""
