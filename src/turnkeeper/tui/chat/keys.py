"""The keys of the conversation."""

from turnkeeper.tui.keys import Key

KEYS = (
    Key("chat.line-down", "j,down", "Down a line"),
    Key("chat.line-up", "k,up", "Up a line"),
    Key("chat.next", "J,shift+down", "Next item", shown=True),
    Key("chat.previous", "K,shift+up", "Previous item", shown=True),
    Key("chat.next-prompt", "right_square_bracket", "Next prompt", display="]"),
    Key("chat.previous-prompt", "left_square_bracket", "Previous prompt", display="["),
    Key("chat.page-down", "f,pagedown", "Down a page"),
    Key("chat.page-up", "b,pageup", "Up a page"),
    Key("chat.half-down", "d", "Down half a page"),
    Key("chat.half-up", "u", "Up half a page"),
    Key("chat.top", "g,home", "To the beginning"),
    Key("chat.bottom", "G,end,ctrl+end", "To the end, and follow it"),
    Key("chat.expand", "space,enter", "Expand or fold the item", shown=True),
    Key("chat.expand-all", "e", "Expand or fold all"),
    Key("chat.copy", "c,y", "Copy the selection or the item", shown=True),
    Key("chat.copy-code", "C,Y", "Copy a code block; again for the one before"),
    Key("chat.open-link", "o", "Open a link; again for the one before"),
    Key("chat.left", "H,shift+left", "Move what is wide to the right"),
    Key("chat.right", "L,shift+right", "Move what is wide to the left"),
    Key("chat.split", "s", "Diffs side by side, or in one column"),
    Key("chat.times", "t", "Show or hide times"),
    Key("chat.search", "slash", "Search", shown=True, display="/"),
    Key("chat.next-found", "n", "Next found"),
    Key("chat.previous-found", "N", "Previous found"),
    Key("chat.leave", "escape", "End the search or the selection, or stop what runs"),
)
