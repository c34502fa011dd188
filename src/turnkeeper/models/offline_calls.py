"""What the offline assistant does with what a phrase named: one call of a tool, or nothing if that makes no sense."""

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

LATEST_COMMITS = 10

KINDS = {
    "c": "*.c",
    "c++": "*.cpp",
    "css": "*.css",
    "csv": "*.csv",
    "go": "*.go",
    "golang": "*.go",
    "html": "*.html",
    "java": "*.java",
    "javascript": "*.js",
    "js": "*.js",
    "json": "*.json",
    "kotlin": "*.kt",
    "markdown": "*.md",
    "md": "*.md",
    "php": "*.php",
    "py": "*.py",
    "python": "*.py",
    "ruby": "*.rb",
    "rust": "*.rs",
    "shell": "*.sh",
    "sql": "*.sql",
    "swift": "*.swift",
    "text": "*.txt",
    "toml": "*.toml",
    "ts": "*.ts",
    "txt": "*.txt",
    "typescript": "*.ts",
    "xml": "*.xml",
    "yaml": "*.yaml",
    "yml": "*.yml",
}
HERE = re.compile(
    r"(?:\.|\./|here|(?:this|the|my|our)?\s*(?:current |whole |entire )?(?:working )?"
    r"(?:directory|folder|project|repo|repository|workspace|code ?base|code)|this|it|there)?",
    re.IGNORECASE,
)
NO_PLACES = {"web", "internet", "online", "net", "google", "history", "conversation", "memory"}
KNOWN_FILES = {"readme", "license", "licence", "changelog", "contributing", "makefile", "dockerfile", "agents", "todo"}
NO_COMMANDS = {
    *("the", "a", "an", "my", "our", "your", "all", "some", "any", "it", "this", "that", "them", "these", "those"),
    *("test", "tests", "everything", "something", "again", "and", "into", "out", "through", "for", "in", "on"),
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, and why."""

    tool: str
    arguments: dict[str, Any]
    intention: str
    counts: str = ""
    """What is counted, when the request was for a number."""
    where: str = ""
    is_command: bool = False
    """Whether it runs what the user wrote."""
    explains: bool = False
    """Whether more was asked for than to be shown a file."""

    @property
    def input(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


Named = dict[str, str]


# Commands


def run(named: Named) -> Call | None:
    """A command as it was written; in words of every day only if its first word could be one."""
    command = named.get("command") or re.sub(r"(?<=\w)[.?!]$", "", named.get("words", ""))
    first = command.split()[0] if command.split() else ""
    if not first or ("words" in named and (first.lower() in NO_COMMANDS or not re.fullmatch(r"[\w./~+-]+", first))):
        return None
    return Call(*bash(command, "Run what was asked"), f"I run `{command}`", is_command=True)


def bash(command: str, description: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command, "description": description}


def where_am_i(_named: Named) -> Call:
    return Call(*bash("pwd", "Say where we are"), "I look where we are")


def git_status(_named: Named) -> Call:
    return Call(*bash("git status --short --branch", "Look at what changed"), "I ask git what changed")


def git_diff(_named: Named) -> Call:
    return Call(*bash("git --no-pager diff", "Look at what changed"), "I ask git what changed")


def git_branch(_named: Named) -> Call:
    return Call(*bash("git branch --show-current", "Look which branch this is"), "I ask git for the branch")


def git_log(named: Named) -> Call:
    count = named.get("n") or str(LATEST_COMMITS)
    return Call(
        *bash(f"git log --oneline -n {count}", "Look at the latest commits"), "I ask git for the latest commits"
    )


# Counting


def count_in_file(named: Named) -> Call | None:
    path = file_named(named["what"], any_word=True)
    unit = {"chars": "characters"}.get(named["unit"].lower(), named["unit"].lower())
    if path is None:
        return None
    option = {"lines": "-l", "words": "-w", "characters": "-m", "bytes": "-c"}[unit]
    asked = bash(f"wc {option} -- {shlex.quote(path)}", f"Count the {unit} of {path}")
    return Call(*asked, f"I count the {unit} of {path}", counts=unit, where=path)


def count_files(named: Named) -> Call | None:
    pattern, place = pattern_of(named.get("kind", "")), place_of(named.get("path", ""))
    if (named.get("kind") and pattern is None) or place is None:
        return None
    only = f" -name {shlex.quote(pattern)}" if pattern else ""
    command = f"find {shlex.quote(place or '.')} -type f -not -path '*/.*'{only} | wc -l"
    kind = f"{pattern} files" if pattern else "files"
    where = f"{place or 'this directory'} and below, not counting hidden ones"
    return Call(*bash(command, f"Count the {kind}"), f"I count the {kind}", counts=kind, where=where)


def count_word(named: Named) -> Call | None:
    word, place = named["what"], place_of(named.get("path", ""))
    if word.endswith("s") and word[:-1].isupper():
        word = word[:-1]
    if place is None:
        return None
    arguments: dict[str, Any] = {"pattern": word, "literal_text": True, "output_mode": "count"}
    arguments |= {"path": place} if place else {}
    where = place or "this directory and below"
    return Call("grep", arguments, f"I search for {word!r}", counts=f"lines with {word!r}", where=where)


# Finding


def find_files(named: Named) -> Call | None:
    what, place = named["what"], place_of(named.get("path", ""))
    pattern = pattern_of(what) if "kind" not in named else pattern_of(what) or what
    if pattern is None or place is None:
        return None
    arguments = {"pattern": pattern if "/" in pattern else f"**/{pattern}"} | ({"path": place} if place else {})
    return Call("glob", arguments, f"I look for files named {pattern}")


def search(named: Named) -> Call | None:
    what, place = named["what"], place_of(named.get("path", ""))
    if place is None or what.lower() in NO_PLACES:
        return None
    arguments: dict[str, Any] = {"pattern": what, "literal_text": True} | ({"path": place} if place else {})
    return Call("grep", arguments, f"I search for {what!r}")


def search_name(named: Named) -> Call | None:
    """A name as programmers write them; an ordinary word may mean anything."""
    odd = re.fullmatch(r"\w*(?:_\w|[a-z][A-Z]|\(\))\w*(?:\(\))?", named["what"])
    return search(named | {"what": named["what"].removesuffix("()")}) if odd else None


def files_with(named: Named) -> Call | None:
    call = search(named)
    if call is None:
        return None
    return Call("grep", call.arguments | {"output_mode": "files_with_matches"}, call.intention)


# Reading


def list_directory(named: Named) -> Call | None:
    what = named.get("what", "")
    if re.search(r"\.\w{1,5}$", what) and not what.endswith("/"):
        return show(named)
    place = place_of(what)
    if place is None:
        return None
    return Call("ls", {"path": place} if place else {}, f"I look into {place or 'this directory'}")


def show(named: Named) -> Call | None:
    path = file_named(named["what"])
    if path is None:
        return None
    first, last = int(named.get("from", 1)), int(named.get("to", 0))
    arguments: dict[str, Any] = {"file_path": path}
    arguments |= {"offset": first - 1} if first > 1 else {}
    arguments |= {"limit": last - first + 1} if last >= first else {}
    return Call("view", arguments, f"I read {path}")


def show_line(named: Named) -> Call | None:
    return show(named | {"to": named["from"]})


def show_last(named: Named) -> Call | None:
    path = file_named(named["what"])
    if path is None:
        return None
    asked = bash(f"tail -n {named['n']} -- {shlex.quote(path)}", f"Show the end of {path}")
    return Call(*asked, f"I read the end of {path}")


def explain(named: Named) -> Call | None:
    call = show(named)
    return Call(call.tool, call.arguments, call.intention, explains=True) if call else None


# What was named


def pattern_of(what: str) -> str | None:
    """A pattern of file names: a kind of files, an ending, a name, or a pattern already."""
    if what.lower() in KINDS:
        return KINDS[what.lower()]
    if re.fullmatch(r"\.\w+", what):
        return f"*{what}"
    return what if re.fullmatch(r"\S*[*?]\S*|\S+\.\w+", what) else None


def place_of(what: str) -> str | None:
    """A directory, or a file, that was named; empty for the one we are in, None for what is none."""
    words = re.sub(r"^(?:the|a)\s+|\s+(?:directory|folder|dir|file)$", "", what.strip())
    if HERE.fullmatch(what.strip()) or HERE.fullmatch(words):
        return ""
    return None if " " in words or words.lower() in NO_PLACES else words


def file_named(what: str, *, any_word: bool = False) -> str | None:
    """A file's name: it has an ending or a path, or it is one that everybody knows."""
    words = re.sub(r"^(?:the\s+)?(?:file\s+)?|\s+file$", "", what.strip())
    looks = re.fullmatch(r"\S*(?:/\S+|\.\w+|\.)", words) or words.lower() in KNOWN_FILES
    return words if words and " " not in words and (looks or any_word) and not HERE.fullmatch(words) else None
