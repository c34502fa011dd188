"""May this call be made? Judged from rules, without asking anybody.

| level, highest first | where its rules come from |
|---|---|
| run | the options a run was submitted with |
| session, workspace, always | what a person granted, and how far it reaches; children share their parents' |
| config | the workspace's settings |
| default | the house's own |

The highest level with a matching rule decides. Within a level a deny wins; otherwise the last match decides. Of a call
with several subjects (the parts of a command line) each is judged: one denied part denies the call, one part to be
asked about is asked about. Without any rule a call its tool knows to be harmless is allowed, unless it touches a
secret; anything else is asked about.

A grant is a click, so it reaches no further than what it showed: it does not lift a deny of the settings, and it does
not cover a file with secrets that it does not name. An allowance is read narrowly and a prohibition widely
(`commandline.py`, `patterns.py`).
"""

from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from fnmatch import fnmatchcase

import msgspec

from turnkeeper.core import commandline
from turnkeeper.core.patterns import address_fits, path_fits
from turnkeeper.core.ruletext import kind_of, parse_rules
from turnkeeper.core.secretfiles import names_secret
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.requests import Grant, Rule, Verdict
from turnkeeper.protocol.runs import RunOptions
from turnkeeper.protocol.secretfiles import is_secret, is_steering

EDITING_TOOLS = frozenset({"edit", "multiedit", "write", "lsp_rename", "lsp_replace_symbol"})
"""Ways to the same end: forbidding one forbids all."""


class Level(IntEnum):
    DEFAULT = 0
    CONFIG = 1
    ALWAYS = 2
    WORKSPACE = 3
    SESSION = 4
    RUN = 5

    @property
    def is_granted(self) -> bool:
        return self in (Level.ALWAYS, Level.WORKSPACE, Level.SESSION)


class Rules(msgspec.Struct, frozen=True):
    """All rules that hold for one run, by level."""

    run: tuple[Rule, ...] = ()
    session: tuple[Rule, ...] = ()
    workspace: tuple[Rule, ...] = ()
    always: tuple[Rule, ...] = ()
    config: tuple[Rule, ...] = ()
    default: tuple[Rule, ...] = ()

    def at(self, level: Level) -> tuple[Rule, ...]:
        match level:
            case Level.RUN:
                return self.run
            case Level.SESSION:
                return self.session
            case Level.WORKSPACE:
                return self.workspace
            case Level.ALWAYS:
                return self.always
            case Level.CONFIG:
                return self.config
            case Level.DEFAULT:
                return self.default


class Judgement(msgspec.Struct, frozen=True):
    """The verdict, and what it rests on. Without a rule it rests on the nature of the call."""

    verdict: Verdict
    subject: str = ""
    rule: Rule | None = None
    level: Level | None = None
    waived: bool = False
    """Somebody would have been asked, were it not that nobody is to be."""
    hidden: bool = False
    """The call does not spell out what it runs, so that it may be what the rule forbids."""


class Case(msgspec.Struct, frozen=True):
    """One subject of a call, as rules look at it."""

    tool: str
    action: str
    subject: str
    workdir: str
    hides: bool = False

    @property
    def touches_secret(self) -> bool:
        match kind_of(self.tool, self.subject):
            case "command":
                return names_secret(self.subject)
            case "path":
                return is_secret(self.subject)
            case _:
                return False


def rules_for(
    options: RunOptions, *, config: Sequence[Rule], grants: Sequence[Grant], lineage: Collection[SessionId]
) -> Rules:
    """`lineage` is the session and its parents: what was granted to a parent holds for its children."""

    def granted(scope: str) -> tuple[Rule, ...]:
        return tuple(grant.rule for grant in grants if grant.scope == scope and holds(grant, lineage))

    return Rules(
        run=(*parse_rules(options.allow, Verdict.ALLOW), *parse_rules(options.deny, Verdict.DENY)),
        session=granted("session"),
        workspace=granted("workspace"),
        always=granted("always"),
        config=tuple(config),
    )


def holds(grant: Grant, lineage: Collection[SessionId]) -> bool:
    return grant.scope != "session" or grant.session_id in lineage


def judge(
    rules: Rules,
    *,
    tool: str,
    action: str,
    subjects: Sequence[str],
    workdir: str,
    safe: bool = False,
    approved: bool = False,
    shadows: Sequence[str] = (),
    hides: bool = False,
) -> Judgement:
    """`safe`: the tool knows the call to be harmless. `approved`: nobody is to be asked (yolo, or a hook's word).
    `shadows`: what the call may come to beside its subjects. `hides`: not even that is all.

    What is denied stays denied, however safe or approved it is. Where something is denied, a call that hides what it
    does is for a person to look at, and where nobody is to be asked it is denied as well.
    """
    cases = [Case(tool, action, subject, workdir, hides) for subject in subjects or ("",)]
    judgements = [judge_one(rules, case, safe=safe) for case in cases]
    hints = [judge_one(rules, Case(tool, action, shadow, workdir), safe=safe) for shadow in shadows]
    judgements += [hint for hint in hints if hint.rule is not None and hint.verdict is not Verdict.ALLOW]
    for verdict in (Verdict.DENY, Verdict.ASK):
        found = next((judgement for judgement in judgements if judgement.verdict is verdict), None)
        if found and verdict is Verdict.ASK and approved:
            hidden = next((judgement for judgement in judgements if judgement.hidden), None)
            if hidden is not None:
                return msgspec.structs.replace(hidden, verdict=Verdict.DENY)
            return Judgement(Verdict.ALLOW, found.subject, waived=True)
        if found:
            return found
    return judgements[0]


def demanded(judgement: Judgement) -> Judgement:
    """What becomes of it when a person is to decide, whatever rules allow: only what is denied stays so."""
    return Judgement(Verdict.ASK, judgement.subject) if judgement.verdict is Verdict.ALLOW else judgement


def judge_one(rules: Rules, case: Case, *, safe: bool) -> Judgement:
    for level in sorted(Level, reverse=True):
        rule = deciding(rules.at(level), case, level)
        if rule is None or rule.verdict is Verdict.ALLOW:
            also = rules.config if level.is_granted and rule is not None else ()
            feared = next((deny for deny in (*rules.at(level), *also) if is_feared(deny, case)), None)
            if feared is not None:
                return Judgement(Verdict.ASK, case.subject, feared, level, hidden=True)
        if rule is None:
            continue
        forbidden = next((deny for deny in rules.config if is_denied_by(deny, case)), None)
        if level.is_granted and forbidden is not None:
            return Judgement(Verdict.DENY, case.subject, forbidden, Level.CONFIG)
        return Judgement(rule.verdict, case.subject, rule, level)
    harmless = safe and not case.touches_secret
    return Judgement(Verdict.ALLOW if harmless else Verdict.ASK, case.subject)


def deciding(rules: Sequence[Rule], case: Case, level: Level) -> Rule | None:
    matching = list(matches(rules, case, level))
    return next((rule for rule in matching if rule.verdict is Verdict.DENY), matching[-1] if matching else None)


def matches(rules: Sequence[Rule], case: Case, level: Level) -> Iterator[Rule]:
    for rule in rules:
        if covers(rule, case) and not (level.is_granted and outreaches(rule, case)):
            yield rule


def is_denied_by(rule: Rule, case: Case) -> bool:
    return rule.verdict is Verdict.DENY and covers(rule, case)


def is_feared(rule: Rule, case: Case) -> bool:
    """Whether what the call hides, or does not spell out, may be what the rule forbids."""
    if rule.verdict is not Verdict.DENY or not rule.subject or not tool_fits(rule.tool, case.tool, loose=True):
        return False
    if kind_of(case.tool, case.subject) != "command":
        return False
    return case.hides or commandline.may_be(rule.subject, case.subject)


def outreaches(rule: Rule, case: Case) -> bool:
    """Whether a grant would cover a file with secrets, or one by which something is run later, without naming it."""
    if rule.verdict is not Verdict.ALLOW:
        return False
    if case.tool in EDITING_TOOLS and is_steering(case.subject) and not is_steering(rule.subject):
        return True
    if not case.touches_secret:
        return False
    named = rule.subject.rpartition("/")[2]
    return not (names_secret(rule.subject) if kind_of(case.tool, case.subject) == "command" else is_secret(named))


def covers(rule: Rule, case: Case) -> bool:
    loose = rule.verdict is not Verdict.ALLOW
    if not tool_fits(rule.tool, case.tool, loose=loose):
        return False
    if rule.action and not fnmatchcase(case.action, rule.action):
        return False
    return not rule.subject or subject_fits(rule.subject, case, loose=loose)


def tool_fits(pattern: str, tool: str, *, loose: bool) -> bool:
    if loose and pattern in EDITING_TOOLS:
        return tool in EDITING_TOOLS
    return not pattern or fnmatchcase(tool, pattern)


def subject_fits(pattern: str, case: Case, *, loose: bool) -> bool:
    match kind_of(case.tool, case.subject):
        case "command":
            return (commandline.forbids if loose else commandline.allows)(pattern, case.subject)
        case "address":
            return address_fits(pattern, case.subject, loose=loose)
        case "path":
            return path_fits(pattern, case.subject, workdir=case.workdir, loose=loose)
        case "name":
            return fnmatchcase(case.subject, pattern)
