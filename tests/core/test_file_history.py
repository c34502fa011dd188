"""Undo and redo of a file: exact after any sequence of changes, our own and others'."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.core.file_history import (
    ChangedElsewhere,
    Content,
    Move,
    NowhereToGo,
    Plan,
    before_run,
    found,
    in_all,
    interrupted,
    redo,
    timeline,
    undo,
    undo_since,
)
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.protocol.sessions import FileVersion

A, B = RunId("a"), RunId("b")


@dataclass
class Disk:
    """A file and the versions a session recorded of it."""

    content: Content = None
    versions: list[FileVersion] = field(default_factory=list[FileVersion])

    def change(self, after: Content, run: RunId = A) -> None:
        self.begin()
        self.record(after, run=run)
        self.content = after

    def begin(self) -> None:
        for content in found(self.versions[-1] if self.versions else None, self.content):
            self.record(content, run=None)

    def go(self, plan: Plan) -> Plan:
        if isinstance(plan, Move):
            for content in plan.found:
                self.record(content)
            self.record(plan.content, id=plan.id_of(str(len(self.versions))))
            self.content = plan.content
        return plan

    def record(self, content: Content, *, run: RunId | None = None, id: str = "", form: str = "") -> None:
        number = len(self.versions)
        version = FileVersion(
            id=id or f"v{number}",
            session_id=SessionId("s"),
            path="/f",
            content=content or "",
            version=number,
            run_id=run,
            absent=content is None,
            form=form,
        )
        self.versions.append(version)


def test_a_creation_is_undone_to_no_file_and_done_again() -> None:
    disk = Disk()
    disk.change("hello\n")
    disk.go(undo(disk.versions, disk.content))
    assert disk.content is None
    disk.go(redo(disk.versions, disk.content))
    assert disk.content == "hello\n"
    assert undo([], None) == redo(disk.versions, disk.content) == NowhereToGo()


def test_an_empty_file_is_not_the_same_as_none() -> None:
    disk = Disk()
    disk.change("")
    disk.change("x")
    disk.go(undo(disk.versions, disk.content))
    assert disk.content == ""
    disk.go(undo(disk.versions, disk.content))
    assert disk.content is None


def test_a_change_after_an_undo_drops_what_could_be_redone() -> None:
    disk = Disk("0")
    for text in ("1", "2"):
        disk.change(text)
    disk.go(undo(disk.versions, disk.content))
    disk.change("3")
    assert redo(disk.versions, disk.content) == NowhereToGo()
    disk.go(undo(disk.versions, disk.content))
    assert disk.content == "1"


def test_somebody_elses_change_stops_an_undo_and_is_kept_when_it_is_passed_over() -> None:
    disk = Disk("0")
    disk.change("1")
    disk.content = "theirs"
    assert undo(disk.versions, disk.content) == ChangedElsewhere("1", "theirs")
    disk.go(undo(disk.versions, disk.content, over=True))
    assert disk.content == "0"
    for text in ("1", "theirs"):
        disk.go(redo(disk.versions, disk.content))
        assert disk.content == text


def test_a_change_that_a_crash_interrupted_is_told_from_what_was_there_and_can_be_taken_back() -> None:
    disk = Disk("0")
    assert interrupted(None, "nobody of us knows this file") == ()
    disk.begin()
    assert interrupted(disk.versions[-1], "0") == ()
    disk.content = "1, written but never recorded"
    (unrecorded,) = interrupted(disk.versions[-1], disk.content)
    disk.record(unrecorded, run=A)
    disk.change("2")
    for text in ("1, written but never recorded", "0"):
        disk.go(undo(disk.versions, disk.content))
        assert disk.content == text


def test_what_a_person_wrote_between_two_runs_is_not_taken_back_with_the_second() -> None:
    disk = Disk("0")
    disk.change("1", A)
    disk.content = "1, and a person's"
    disk.change("2", B)
    point = before_run(disk.versions, B)
    assert point is not None
    disk.go(undo_since(disk.versions, point, disk.content))
    assert disk.content == "1, and a person's"


def test_everything_since_a_point_is_undone_at_once() -> None:
    disk = Disk("0")
    for text in ("1", "2", "3"):
        disk.change(text)
    disk.go(undo_since(disk.versions, 1, disk.content))
    assert disk.content == "1"
    assert undo_since(disk.versions, 1, disk.content) == NowhereToGo()
    disk.go(redo(disk.versions, disk.content))
    assert disk.content == "2"


def test_what_one_run_did_is_undone_to_where_it_began() -> None:
    disk = Disk("0")
    disk.change("1", A)
    disk.change("2", B)
    disk.change("3", B)
    point = before_run(disk.versions, B)
    assert point is not None
    disk.go(undo_since(disk.versions, point, disk.content))
    assert disk.content == "1"
    first = before_run(disk.versions, A)
    assert first == 0
    assert before_run(disk.versions, RunId("none")) is None


def test_a_step_has_the_form_it_had_when_it_was_left() -> None:
    disk = Disk()
    disk.change("1")
    plan = undo(disk.versions, disk.content)
    assert isinstance(plan, Move)
    disk.record(None, id=plan.id_of("x"), form="as it was left")
    again = redo(disk.versions, None)
    assert isinstance(again, Move)
    assert (again.content, again.target.form) == ("1", "as it was left")


def test_in_all_compares_the_first_version_with_where_the_file_stands() -> None:
    disk = Disk("a\nb\n")
    disk.change("a\nc\n")
    disk.change("a\nc\nd\n")
    assert in_all(disk.versions) == ("a\nb\n", "a\nc\nd\n")
    disk.go(undo_since(disk.versions, 0, disk.content))
    assert in_all(disk.versions) == ("a\nb\n", "a\nb\n")
    assert in_all([]) is None


contents = st.one_of(st.none(), st.sampled_from(["", "a", "b", "a\nb\n"]))
deeds = st.one_of(
    st.tuples(st.just("change"), contents),
    st.tuples(st.just("theirs"), contents),
    st.tuples(st.sampled_from(["undo", "over", "redo"]), st.none()),
    st.tuples(st.just("since"), st.integers(0, 12)),
)


@dataclass
class Naive:
    """The same as a plain list of texts and an index: what the versions must amount to."""

    texts: list[Content] = field(default_factory=list[Content])
    at: int = -1

    def say(self, text: Content) -> None:
        self.texts = [*self.texts[: self.at + 1], text]
        self.at = len(self.texts) - 1


@given(start=contents, script=st.lists(deeds, max_size=30))
def test_undo_and_redo_are_exact_after_any_sequence(start: Content, script: list[tuple[str, object]]) -> None:
    disk, naive = Disk(start), Naive()
    for deed, value in script:
        text = value if isinstance(value, str) else None
        match deed:
            case "change":
                if naive.at < 0 or naive.texts[naive.at] != disk.content:
                    naive.say(disk.content)
                naive.say(text)
                disk.change(text)
            case "theirs":
                disk.content = text
            case "since":
                assert isinstance(value, int)
                before = disk.content
                plan = disk.go(undo_since(disk.versions, value, disk.content, over=True))
                if isinstance(plan, Move):
                    known = timeline(disk.versions)
                    assert known is not None
                    assert known.steps[known.standing].version <= max(value, known.steps[0].version)
                    if before != naive.texts[naive.at]:
                        naive.say(before)
                    naive.at = known.standing
            case _:
                step = -1 if deed in ("undo", "over") else 1
                foreign = naive.at >= 0 and naive.texts[naive.at] != disk.content
                plan = (
                    redo(disk.versions, disk.content)
                    if deed == "redo"
                    else undo(disk.versions, disk.content, over=deed == "over")
                )
                if not 0 <= naive.at + step < len(naive.texts) or naive.at < 0:
                    assert plan == NowhereToGo()
                elif foreign and deed != "over":
                    assert isinstance(plan, ChangedElsewhere)
                else:
                    target = naive.at + step
                    if foreign:
                        naive.say(disk.content)
                    disk.go(plan)
                    naive.at = target
                    assert disk.content == naive.texts[naive.at]
        known = timeline(disk.versions)
        assert (known is None) == (naive.at < 0)
        if known is not None:
            assert known.now == naive.texts[naive.at]
            assert [None if one.absent else one.content for one in known.steps] == naive.texts
