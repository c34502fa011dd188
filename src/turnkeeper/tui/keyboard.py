"""What terminals send for some keys, which Textual takes for other keys or for letters. Pure, but for one table of its.

A terminal that knows no protocol of its own for keys sends an escape before a key that is pressed with alt.
"""

from string import ascii_lowercase
from typing import NamedTuple, cast

# The table is the only place where a sequence can be given a name before it is taken apart.
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.events import Key

ALT = {"\x1b\r": "alt+enter", **{f"\x1b{letter}": f"alt+{letter}" for letter in ascii_lowercase}}
NAMES = {"\r": "enter", "\t": "tab", "\x7f": "backspace"}
"""What xterm says of keys that are pressed with shift or ctrl, where Textual knows the sign and not the key."""


class AltKey(NamedTuple):
    """A key as Textual's table has it."""

    value: str


def teach_alt() -> None:
    """Let sequences be understood at once that Textual would wait on, and take for the letter or for enter alone."""
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for sequence, name in ALT.items():
        table.setdefault(sequence, (AltKey(name),))


def understood(key: Key) -> Key:
    """The key that was meant. One that is pressed with alt writes nothing, whichever letter came with it."""
    *modifiers, name = key.key.split("+")
    if name in NAMES:
        return Key("+".join([*modifiers, NAMES[name]]), None)
    return Key(key.key, None) if "alt" in modifiers and key.character else key
