"""Which uses of git only look.

Options before the subcommand may run anything (`-c core.pager=…`, `--exec-path`), so none of them is safe but
`--no-pager`. Commands that list and change by the same name (`branch`, `tag`, `remote`) are safe in the listing form.
"""

import re
from collections.abc import Mapping, Sequence

from turnkeeper.tools.shell_options import forbidden_option, stays_inside
from turnkeeper.tools.shell_words import Word, names

LOOKS = names("""
    annotate blame cat-file check-ignore cherry count-objects describe diff diff-files diff-index diff-tree
    for-each-ref grep log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog show
    show-branch show-ref status whatchanged
""")
FEARED_LONG = (
    "output",
    "ext-diff",
    "textconv",
    "filters",
    "open-files-in-pager",
    "no-index",
    "contents",
    "exec",
    "upload-pack",
    "server-option",
)
FEARED_LONG_OF: Mapping[str, tuple[str, ...]] = {
    "annotate": ("ignore-revs-file",),
    "blame": ("ignore-revs-file",),
    "grep": ("no-exclude-standard", "untracked"),
}
FEARED_SHORT: Mapping[str, str] = {"annotate": "S", "blame": "S", "grep": "Of", "shortlog": "o"}
LISTING: Mapping[str, re.Pattern[str]] = {
    "branch": re.compile(
        r"-[arvl]+|-vv|--(all|remotes|verbose|list|show-current|no-color|color(=\w+)?|no-column|ignore-case)"
        r"|--(sort|format|contains|no-contains|merged|no-merged|points-at)=\S*"
    ),
    "tag": re.compile(r"-l|-n\d*|--(list|no-column|sort=\S+|format=\S+|contains=\S+|merged=\S+|points-at=\S+)"),
    "remote": re.compile(r"-v|--verbose|show|get-url|-n|--all|[A-Za-z0-9_][\w.-]*"),
    "stash": re.compile(r"list|-p|--stat|--oneline"),
    "worktree": re.compile(r"list|--porcelain|-v"),
    "reflog": re.compile(r"show|-n|-\d+|\d+|--oneline|HEAD|[a-z][\w/-]*"),
    "config": re.compile(r"-l|--(list|get|get-all|local|global|system|show-origin|show-scope|name-only)|[\w.-]+"),
    "ls-remote": re.compile(r"-[htq]+|--(heads|tags|refs|quiet|symref)|[A-Za-z0-9_][\w.-]*"),
    "version": re.compile(r"--build-options"),
}
VERBOSE = ("-v", "--verbose")
MUST_NAME: Mapping[str, frozenset[str]] = {
    "stash": frozenset({"list"}),
    "worktree": frozenset({"list"}),
    "config": frozenset({"-l", "--list", "--get", "--get-all"}),
}


def git_is_safe(words: Sequence[Word], inside: str) -> bool:
    words = words[1:] if words and words[0].text in ("--no-pager", "-P") else words
    if not words or not words[0].literal:
        return False
    name, rest = words[0].text, words[1:]
    if name in LISTING:
        return _only_lists(name, rest)
    if name not in LOOKS:
        return False
    return all(_only_looks(name, word, inside) for word in rest)


def _only_looks(name: str, word: Word, inside: str) -> bool:
    if not stays_inside(word, inside) or word.text == "/dev/null":
        # To compare with nothing is to show a file whole, and whether git knows it or not.
        return False
    if not word.literal:
        return not word.may_be_option
    return not forbidden_option(word.text, FEARED_SHORT.get(name, ""), FEARED_LONG + FEARED_LONG_OF.get(name, ()))


def _only_lists(name: str, words: Sequence[Word]) -> bool:
    texts = [word.text for word in words]
    if not all(word.literal and LISTING[name].fullmatch(word.text) for word in words):
        return False
    if name == "remote" and next((text for text in texts if text not in VERBOSE), "show") not in ("show", "get-url"):
        return False
    if name == "reflog" and texts and texts[0] in ("delete", "expire", "exists", "drop"):
        return False
    return name not in MUST_NAME or (texts[0:1] != [] and _names(name, texts))


def _names(name: str, texts: Sequence[str]) -> bool:
    """`git config name value` sets the value; with `--get` it reads."""
    if name == "config":
        first = next((text for text in texts if text not in ("--local", "--global", "--system")), "")
        return first in MUST_NAME[name]
    return texts[0] in MUST_NAME[name]
