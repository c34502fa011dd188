"""What a session did to a file, and how to take it back: pure functions over its versions.

A version is the file's whole text at one moment, or the statement that there was no file. Whoever is about to change
a file first records what is there (`found`), so that what nobody of us wrote stands in the list like any other, and
what a crash interrupts can be told from it afterwards (`interrupted`) and taken back.

The list only grows. Going back appends a version that says where it went (`moved-to`, kept in its id), and reading
the list from the front tells where the file stands now:

| version | steps | standing |
|---|---|---|
| a change | those up to the standing one, and this | at this |
| a move   | as they were; the step that is left has the form that is noted with the move | at the step it names |

So a change after an undo drops what could have been redone, and everything else can be undone and redone exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from turnkeeper.protocol.ids import RunId
from turnkeeper.protocol.sessions import FileVersion

Content = str | None
"""The text of a file, or None where there is no file."""

MOVED = "moved-to:"


@dataclass(frozen=True, slots=True)
class Timeline:
    """The steps of a file, the oldest first, and at which of them it stands."""

    steps: tuple[FileVersion, ...]
    standing: int

    @property
    def now(self) -> Content:
        return content_of(self.steps[self.standing])


@dataclass(frozen=True, slots=True)
class Move:
    """Go to a step: record `found` first, if it is given, then write the step's content and record the move."""

    target: FileVersion
    found: tuple[Content, ...] = ()

    @property
    def content(self) -> Content:
        return content_of(self.target)

    def id_of(self, unique: str) -> str:
        """The id of the version that records the move."""
        return f"{MOVED}{self.target.version}:{unique}"


@dataclass(frozen=True, slots=True)
class ChangedElsewhere:
    """The file is not as the session left it; going on would take somebody else's change away."""

    known: Content
    found: Content


@dataclass(frozen=True, slots=True)
class NowhereToGo:
    """There is nothing before, or nothing after, where the file stands."""


Plan = Move | ChangedElsewhere | NowhereToGo


def content_of(version: FileVersion) -> Content:
    return None if version.absent else version.content


def found(last: FileVersion | None, disk: Content) -> tuple[Content, ...]:
    """What to add after a file's last version before it is changed: what stands there, unless that is known.

    It is nobody's change of ours, so it is recorded without a run.
    """
    return () if last is not None and content_of(last) == disk else (disk,)


def interrupted(last: FileVersion | None, disk: Content) -> tuple[Content, ...]:
    """What to add when a change was announced and never recorded: what it made of the file, if anything."""
    return found(last, disk) if last is not None else ()


def timeline(versions: Sequence[FileVersion]) -> Timeline | None:
    """Where the file stands after all that was recorded; None where nothing was."""
    steps: list[FileVersion] = []
    standing = -1
    for version in versions:
        place = moved_to(version, steps)
        if place is None:
            del steps[standing + 1 :]
            steps.append(version)
            place = len(steps) - 1
        elif version.form:
            # Somebody may have changed its mode since it was written.
            steps[standing] = replace(steps[standing], form=version.form)
        standing = place
    return Timeline(tuple(steps), standing) if steps else None


def moved_to(version: FileVersion, steps: Sequence[FileVersion]) -> int | None:
    """Which step a version went back or forth to; None for a change."""
    if not version.id.startswith(MOVED):
        return None
    number = version.id.removeprefix(MOVED).partition(":")[0]
    return next((place for place, step in enumerate(steps) if str(step.version) == number), None)


def undo(versions: Sequence[FileVersion], disk: Content, *, over: bool = False) -> Plan:
    """Take back the last change. What somebody else did since is kept as a step, and is passed over only if `over`."""
    known = timeline(versions)
    if known is None or known.standing == 0:
        return NowhereToGo()
    return planned(known, known.standing - 1, disk, over=over)


def redo(versions: Sequence[FileVersion], disk: Content) -> Plan:
    """Do again what was last taken back; nothing is redone over somebody else's change."""
    known = timeline(versions)
    if known is None or known.standing == len(known.steps) - 1:
        return NowhereToGo()
    return planned(known, known.standing + 1, disk, over=False)


def undo_since(versions: Sequence[FileVersion], point: int, disk: Content, *, over: bool = False) -> Plan:
    """Take back everything after version `point`: to the last step that was there by then, or the first of all."""
    known = timeline(versions)
    if known is None:
        return NowhereToGo()
    place = max((place for place, step in enumerate(known.steps) if step.version <= point), default=0)
    return planned(known, place, disk, over=over) if place < known.standing else NowhereToGo()


def before_run(versions: Sequence[FileVersion], run_id: RunId) -> int | None:
    """The version to which `undo_since` takes back what a run did; None where the run changed nothing.

    That is the last one before the run, or, where the run was the first to touch the file, what it found there.
    """
    known = timeline(versions)
    own = [place for place, step in enumerate(known.steps) if step.run_id == run_id] if known else []
    if known is None or not own:
        return None
    return known.steps[max(own[0] - 1, 0)].version


def planned(known: Timeline, place: int, disk: Content, *, over: bool) -> Plan:
    if disk == known.now:
        return Move(known.steps[place])
    return Move(known.steps[place], (disk,)) if over else ChangedElsewhere(known.now, disk)


def in_all(versions: Sequence[FileVersion]) -> tuple[Content, Content] | None:
    """What the session made of a file: how it was before, and where it stands; None where nothing was recorded."""
    known = timeline(versions)
    return (content_of(known.steps[0]), known.now) if known else None
