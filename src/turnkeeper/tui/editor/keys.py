"""The keys of the place where prompts are written."""

from turnkeeper.tui.keys import Key

EDITOR_KEYS = (
    Key("editor.send", "enter", "Send, or put in line", shown=True),
    Key("editor.newline", "ctrl+j,shift+enter,alt+enter", "New line; a \\ before enter makes one, too", shown=True),
    Key("editor.older", "up", "What was said before: at the first line"),
    Key("editor.newer", "down", "What was said after that: at the last line"),
    Key("editor.outside", "ctrl+o", "Write in your own editor"),
    Key("editor.attach", "ctrl+f", "Name and attach a file"),
    Key("editor.paste-image", "ctrl+v,super+v", "Attach the image in the clipboard"),
    Key("editor.attachments", "ctrl+r", "Remove what is attached"),
    Key("editor.plain", "backspace", "Leave the shell: on an empty line"),
    Key("editor.cancel", "escape", "Leave the shell, or stop what runs"),
)
COMPLETION_KEYS = (
    Key("completions.choose", "enter,tab,ctrl+y", "Take this one", shown=True),
    Key("completions.previous", "up", "The one above"),
    Key("completions.next", "down", "The one below"),
    Key("completions.close", "escape", "Offer nothing", shown=True),
    Key("completions.insert-next", "ctrl+n", "Write the one below, and go on choosing"),
    Key("completions.insert-previous", "ctrl+p", "Write the one above, and go on choosing"),
)
CHIP_KEYS = (
    Key("chips.remove", "1,2,3,4,5,6,7,8,9", "Remove the one with this number", shown=True, display="1-9"),
    Key("chips.clear", "r,ctrl+r", "Remove them all", shown=True),
    Key("chips.leave", "escape,enter", "Back to writing", shown=True),
)
WRITING_KEYS = (
    Key("writing.cursor-left", "left,ctrl+b", "Left"),
    Key("writing.cursor-right", "right", "Right"),
    Key("writing.cursor-up", "up", "Up"),
    Key("writing.cursor-down", "down", "Down"),
    Key("writing.cursor-word-left", "ctrl+left,alt+left,alt+b", "A word back"),
    Key("writing.cursor-word-right", "ctrl+right,alt+right,alt+f", "A word on"),
    Key("writing.cursor-line-start", "home,ctrl+a", "To the beginning of the line"),
    Key("writing.cursor-line-end", "end,ctrl+e", "To the end of the line"),
    Key("writing.cursor-page-up", "pageup", "A page up"),
    Key("writing.cursor-page-down", "pagedown", "A page down"),
    Key("writing.text-start", "ctrl+home", "To the beginning of the text"),
    Key("writing.text-end", "ctrl+end", "To the end of the text"),
    Key("writing.select-left", "shift+left", "Mark to the left"),
    Key("writing.select-right", "shift+right", "Mark to the right"),
    Key("writing.select-up", "shift+up", "Mark upwards"),
    Key("writing.select-down", "shift+down", "Mark downwards"),
    Key("writing.select-word-left", "ctrl+shift+left", "Mark a word back"),
    Key("writing.select-word-right", "ctrl+shift+right", "Mark a word on"),
    Key("writing.select-line-start", "shift+home", "Mark to the beginning of the line"),
    Key("writing.select-line-end", "shift+end", "Mark to the end of the line"),
    Key("writing.select-all", "alt+a,super+a", "Mark everything"),
    Key("writing.delete-left", "backspace,ctrl+h", "Delete to the left"),
    Key("writing.delete-right", "delete", "Delete to the right"),
    Key("writing.delete-word-left", "ctrl+w,ctrl+backspace,alt+backspace", "Delete a word back"),
    Key("writing.delete-word-right", "alt+d,alt+delete", "Delete a word on"),
    Key("writing.delete-to-start-of-line", "ctrl+u,super+backspace", "Delete to the beginning of the line"),
    Key("writing.delete-to-end-of-line", "alt+k", "Delete to the end of the line"),
    Key("writing.cut", "ctrl+x,super+x", "Cut what is marked, or the line"),
    Key("writing.copy", "alt+w,super+c", "Copy what is marked"),
    Key("writing.undo", "ctrl+underscore,alt+z,super+z", "Undo"),
    Key("writing.redo", "alt+y,super+shift+z", "Redo"),
)
KEYS = (*EDITOR_KEYS, *COMPLETION_KEYS, *CHIP_KEYS, *WRITING_KEYS)
