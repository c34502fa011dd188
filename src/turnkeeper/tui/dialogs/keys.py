"""The keys of dialogs."""

from turnkeeper.tui.keys import Key

KEYS = (
    Key("dialog.close", "escape", "Close", shown=True),
    Key("permission.once", "a,y", "Allow this once"),
    Key("permission.session", "s", "Allow in this session"),
    Key("permission.workspace", "w", "Allow in this workspace"),
    Key("permission.always", "A", "Allow always and everywhere"),
    Key("permission.deny", "d,n", "Deny"),
    Key("permission.reason", "r", "Deny, and tell the model why"),
    Key("permission.next", "right,tab,l", "Choose: the next answer", shown=True),
    Key("permission.previous", "left,shift+tab,h", "Answer before"),
    Key("permission.choose", "enter", "Answer: give the chosen one", shown=True),
    Key("permission.up", "up,k", "Scroll up"),
    Key("permission.down", "down,j", "Scroll: down", shown=True),
    Key("permission.page-up", "pageup,ctrl+u", "A page up"),
    Key("permission.page-down", "pagedown,ctrl+d", "A page down"),
    Key("permission.shift-left", "shift+left,H", "See more of the left"),
    Key("permission.shift-right", "shift+right,L", "See more of the right"),
    Key("permission.split", "t", "Split: side by side, or in one column", shown=True),
    Key("permission.full", "f", "Fill: the screen, or not", shown=True),
    Key("permission.later", "escape", "Later: it goes on waiting", shown=True),
)
