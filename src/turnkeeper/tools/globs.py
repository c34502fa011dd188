"""Glob patterns as regular expressions, in the dialect that people know from `**`.

`*` and `?` stay within a name, `**` spans folders, `[a-z]` and `[!a-z]` are classes, `{a,b}` is either. A pattern is
anchored at the folder it is used in.
"""

import re
from functools import lru_cache

from turnkeeper.tools.making import Refusal

PATTERN_CHARACTERS_MAX = 1000
ALTERNATIVES_MAX = 256
DEEP_MAX = 3
MAGIC = re.compile(r"[*?\[{]")


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Matches the whole of a path relative to the folder, with forward slashes."""
    if not pattern or len(pattern) > PATTERN_CHARACTERS_MAX:
        raise Refusal(f"a pattern has 1 to {PATTERN_CHARACTERS_MAX} letters")
    alternatives = [regex(one) for one in expanded(pattern.removeprefix("./").removeprefix("/"))]
    try:
        return re.compile("|".join(f"(?:{one})" for one in alternatives), re.DOTALL)
    except re.error as error:
        raise Refusal(f"this is not a glob pattern: {pattern} ({error})") from error


def expanded(pattern: str) -> list[str]:
    """Without braces: one pattern for each alternative."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop(0)
        found = re.search(r"\{([^{}]*)\}", one)
        if found is None or "," not in found[1]:
            done.append(one)
        else:
            waiting.extend(one[: found.start()] + part + one[found.end() :] for part in found[1].split(","))
        if len(done) + len(waiting) > ALTERNATIVES_MAX:
            raise Refusal(f"the pattern has more than {ALTERNATIVES_MAX} alternatives")
    return done


def regex(pattern: str) -> str:
    pattern = re.sub(r"(?:(?<=/)|^)(?:\*\*/){2,}", "**/", pattern)
    if len(re.findall(r"(?:(?<=/)|^)\*\*/", pattern)) > DEEP_MAX:
        raise Refusal(f"a pattern has at most {DEEP_MAX} times `**/`")
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and at_start_of_name(pattern, at):
            parts.append("(?:[^/]+/)*")
            at += 3
        elif pattern.startswith("**", at) and at_start_of_name(pattern, at) and at + 2 == len(pattern):
            parts.append(".*")
            at += 2
        else:
            end = pattern.find("/", at)
            end = len(pattern) if end < 0 else end
            parts.append(name_regex(pattern[at:end]) + pattern[end : end + 1])
            at = end + 1
    return "".join(parts)


def name_regex(pattern: str) -> str:
    """One name. What stands between two stars is taken where it first fits, and never tried elsewhere: a later place
    would leave less for what follows."""
    first, *rest = name_pieces(pattern)
    if not rest:
        return first
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1]) + f"[^/]*{rest[-1]}"


def name_pieces(pattern: str) -> list[str]:
    """What stands before, between and after its stars."""
    parts: list[str] = []
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "*":
            pieces.append("".join(parts))
            parts = []
            while at < len(pattern) and pattern[at] == "*":
                at += 1
        elif letter == "[" and (end := class_end(pattern, at)) > 0:
            parts.append(class_of(pattern[at + 1 : end]))
            at = end + 1
        else:
            if letter == "\\" and at + 1 < len(pattern):
                at += 1
                letter = pattern[at]
                parts.append(re.escape(letter))
            else:
                parts.append("[^/]" if letter == "?" else re.escape(letter))
            at += 1
    return [*pieces, "".join(parts)]


def at_start_of_name(pattern: str, at: int) -> bool:
    return at == 0 or pattern[at - 1] == "/"


def class_end(pattern: str, start: int) -> int:
    """Where a `[` closes, or -1; a `]` that comes first is a letter of the class."""
    at = start + 1
    if at < len(pattern) and pattern[at] in "!^":
        at += 1
    return pattern.find("]", at + 1)


def class_of(body: str) -> str:
    negated = body[:1] in ("!", "^")
    letters = (body[1:] if negated else body).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    letters = letters.replace("&&", "&\\&").replace("~~", "~\\~").replace("||", "|\\|")
    return f"(?!/)[{'^' if negated else ''}{letters}]"


def literal_folder(pattern: str) -> str:
    """The folders a pattern names before its first special letter: only there can it match anything."""
    parts = pattern.removeprefix("./").split("/")
    plain: list[str] = []
    for part in parts[:-1]:
        if MAGIC.search(part) or "\\" in part or part in ("", ".", ".."):
            break
        plain.append(part)
    return "/".join(plain)


def hidden_names(pattern: str) -> tuple[str, ...]:
    """The parts of a pattern that ask for hidden files or folders by beginning with a dot."""
    return tuple(part for one in expanded(pattern) for part in one.split("/") if part.startswith(".") and len(part) > 1)
