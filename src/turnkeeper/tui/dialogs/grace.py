"""Whoever was typing when a dialog appeared has not answered it: for a moment it hears no key. Pure."""

from dataclasses import dataclass

GRACE_SECONDS = 0.3
GRACE_SECONDS_MAX = 1.5


@dataclass(slots=True)
class Grace:
    """From when a dialog appeared until so long a silence; a key in it begins the silence anew, but not for ever."""

    appeared: float
    quiet_since: float = 0.0

    def swallows(self, now: float) -> bool:
        """Whether a key that is pressed now is not meant for the dialog."""
        if self.is_over(now):
            return False
        self.quiet_since = now
        return True

    def is_over(self, now: float) -> bool:
        since = max(self.appeared, self.quiet_since)
        return now - since >= GRACE_SECONDS or now - self.appeared >= GRACE_SECONDS_MAX
