"""A text that is too long for its place, cut in the middle, with a marker that says how much is missing.

The result never exceeds the limit, so that cutting it again changes nothing.
"""

MARKER_BYTES_MAX = 64
"""What the marker may take of the limit. No limit below this makes sense."""


def excerpt(text: str, *, bytes_max: int) -> str:
    """The whole text, or its beginning and its end around a marker that says how many bytes were left out."""
    raw = text.encode("utf-8", errors="replace")
    if len(raw) <= bytes_max:
        return text
    room = max(0, bytes_max - MARKER_BYTES_MAX)
    head = raw[: room - room // 2].decode("utf-8", errors="ignore")
    tail = raw[len(raw) - room // 2 :].decode("utf-8", errors="ignore")
    missing = len(raw) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[… {missing} bytes left out here …]\n{tail}"
