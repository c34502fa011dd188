"""What is too tangled to be read in time.

A parser that looks for sense in thousands of brackets that never close takes seconds, in which the whole server stands
still. What is quoted is no riddle: a program in a here-document may be as long as it likes.
"""

import re

BRACKETS_MAX = 1_000
COMMAS_MAX = 5_000
DOCUMENTS_MAX = 32
DOCUMENT = re.compile(
    r"<<-?[ \t]*(?P<quote>['\"\\])(?P<mark>\w+)(?:'|\")?[^\n]*\n.*?^\t*(?P=mark)$", re.DOTALL | re.MULTILINE
)
QUOTED = re.compile(r"'[^']*'")


def is_tangled(text: str) -> bool:
    if not is_dense(text):
        return False
    if text.count("<<") > DOCUMENTS_MAX:
        return True
    return is_dense(QUOTED.sub("", DOCUMENT.sub("", text)))


def is_dense(text: str) -> bool:
    return text.count("(") > BRACKETS_MAX or text.count(",") > COMMAS_MAX
