"""What a session did to a file, and how to take it back: pure functions over its versions.

A version is the file's whole text at one moment, or the statement that there was no file. Whoever records a change
records what was there before it as well, so that a version nobody of us wrote (a person's own edit, a change a crash
interrupted) stands in the list like any other.
"""

from collections.abc import Sequence

from turnkeeper.protocol.sessions import FileVersion

Content = str | None
"""The text of a file, or None where there is no file."""


def content_of(version: FileVersion) -> Content:
    return None if version.absent else version.content


def recorded(versions: Sequence[FileVersion], *, before: Content, after: Content) -> tuple[Content, ...]:
    """What to add to a session's versions of a file when a change of ours turned `before` into `after`."""
    if versions and content_of(versions[-1]) == before:
        return (after,)
    return (before, after)
