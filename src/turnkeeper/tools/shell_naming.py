"""What the name of a command comes to where it is not written out: for prohibitions alone to look at.

A line that sets a variable once and plainly tells what the variable holds, though not whether it still holds it where
it is used: set in a subshell or for one command alone, it is empty afterwards. So both are looked at. A variable that
may be set in another manner as well may hold anything, and its use *hides* what is run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from turnkeeper.tools.shell_line import Command, Line
from turnkeeper.tools.shell_words import Word, as_run, names

VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[.*\])?\+?=", re.DOTALL)
"""Some assignments are names to the grammar, and what follows them is the command."""
KNOWN_NAME = re.compile(r"(.*/)?[\w.+@:%,-]+|\[\[?|[{}!:.]", re.DOTALL)
SET_BY_BASH = re.compile(
    r"_|(BASH|COMP|EPOCH|HIST|HOST|MACH|OPT|OS)\w*|COPROC|COLUMNS|DIRSTACK|EUID|FUNCNAME|GROUPS|LINENO|LINES|MAPFILE"
    r"|OLDPWD|PIPESTATUS|PPID|PWD|RANDOM|REPLY|SECONDS|SHLVL|SRANDOM|UID"
)
"""Variables that bash gives a value of its own, whatever they are set to."""
DECLARES = names("declare export local readonly typeset")
SETS = DECLARES | names("getopts let mapfile read readarray unset wait")
"""Builtins that set the variables which their words name."""
TURNS_VALUES = re.compile(r"[-+]\w*[lucni]\w*")
"""An option of a declaration by which a variable holds something else than it is given, now or later."""


def why_unnamed(command: Command, line: Line) -> str:
    """Why it cannot be known what the command's name comes to; empty if it can."""
    first = command.words[0]
    if first.text.startswith("-") and not all(word.literal for word in command.words):
        return f"it is not known what {first.text} does"
    if first.literal and ASSIGNMENT.match(first.text):
        return f"the name of the command may be an assignment: {first.text}"
    if first.literal:
        # Here `find -exec` and its like put the name of a file.
        return f"the name of the command is the name of a file: {first.text}" if "{}" in first.text else ""
    texts = as_run(command.words, line.assigned)
    vanishes = len(texts) < len(command.words) and "{" in VARIABLE.sub("", first.text)
    if vanishes or not texts or first.text == "..." or not KNOWN_NAME.fullmatch(texts[0]):
        return f"the name of the command is not spelled out: {first.text}"
    fickle = next((name for name in _variables(first) if _is_fickle(name, line)), "")
    return f"the name of the command depends on {fickle}, which may hold anything" if fickle else ""


def as_assigned(words: Sequence[Word], line: Line) -> tuple[Word, ...]:
    """The words with what the line sets their variables to."""

    def held(match: re.Match[str]) -> str:
        return line.assigned.get(match[1] or match[2], match[0])

    return tuple(word if word.literal else structs.replace(word, text=VARIABLE.sub(held, word.text)) for word in words)


def is_told(word: Word, line: Line) -> bool:
    """Whether nothing about the word is uncertain but variables, of which this line leaves no doubt."""
    return not re.search(r"[$`]", VARIABLE.sub("", word.text)) and not any(
        name.isdigit() or _is_fickle(name, line) for name in _variables(word)
    )


def spelled_out(words: Sequence[Word], assigned: Mapping[str, str]) -> Iterator[tuple[tuple[Word, ...], bool]]:
    """The command as it runs if the variables in its name hold what the line tells, and if they hold nothing."""
    for values, is_told in ((assigned, True), (dict.fromkeys(assigned, ""), False)):
        texts = as_run(words, values)
        of_name = tuple(Word(text, lead=text[:1]) for text in texts[: len(texts) - len(words) + 1])
        named = (*of_name, *words[1:])
        if named and (not of_name or of_name[0].text != words[0].text):
            yield named, is_told


def _variables(word: Word) -> Iterator[str]:
    return (match[1] or match[2] for match in VARIABLE.finditer(word.text))


def _is_fickle(name: str, line: Line) -> bool:
    """Whether the variable may hold what the line does not tell: it is named where it is neither set nor looked up."""
    is_assigned = name in line.assigned
    if is_assigned and (SET_BY_BASH.fullmatch(name) or any(_sets_anything(command) for command in line.commands)):
        return True
    looked_up = rf"\${name}(?!\w)|\$\{{{name}\}}"
    looped = rf"\bfor\s+{name}\s+in\b" if not is_assigned else looked_up
    mentions = re.findall(rf"(?<!\w){name}(?!\w)", re.sub(rf"{looked_up}|{looped}", "", line.source))
    return len(mentions) > (1 if is_assigned else 0)


def _sets_anything(command: Command) -> bool:
    """Whether the command may set variables that the line does not name as they are called."""
    name, words = command.words[0].text, command.words[1:]
    if name in DECLARES and any(TURNS_VALUES.fullmatch(word.text) for word in words):
        return True
    if sets_variables(command):
        joined = any(re.fullmatch(r"-\w{2,}", word.text) for word in words if name not in DECLARES)
        return joined or sets_unnamed(command)
    return name in ("eval", "trap")


def sets_variables(command: Command) -> bool:
    name, words = command.words[0].text, command.words[1:]
    return name in SETS or (name == "printf" and bool(words) and words[0].text.startswith("-v"))


def sets_unnamed(command: Command) -> bool:
    """Whether it is not spelled out which variables the command sets."""
    computed = (word.text.partition("=")[0] for word in command.words[1:] if not word.literal)
    return sets_variables(command) and any(re.search(r"[$`{]", text) for text in computed)
