"""What was said in this workspace before, prompts and shell commands apart: what the server kept, and our own since."""

from turnkeeper.protocol.problems import Problem
from turnkeeper.tui.editor.history import Browsing, commands, prompts
from turnkeeper.tui.live import Live


class Past:
    """Owns where somebody is in each of the two."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self.is_known = False
        self._browsing: dict[bool, Browsing] = {True: Browsing(), False: Browsing()}

    async def learn(self) -> None:
        """What people said in all sessions. Without it there is only what is said from now on."""
        try:
            said = await self._live.workspace.messages.of_people()
        except Problem:
            return
        self._browsing[False] = self._browsing[False].with_entries(prompts(said))
        self._browsing[True] = self._browsing[True].with_entries(commands(said))
        self.is_known = True

    def add(self, text: str, *, is_shell: bool) -> None:
        self._browsing[is_shell] = self._browsing[is_shell].added(text)

    def older(self, text: str, *, is_shell: bool) -> str | None:
        return self._moved(is_shell, self._browsing[is_shell].older(text))

    def newer(self, text: str, *, is_shell: bool) -> str | None:
        return self._moved(is_shell, self._browsing[is_shell].newer(text))

    def _moved(self, is_shell: bool, to: Browsing | None) -> str | None:
        if to is None:
            return None
        self._browsing[is_shell] = to
        return to.text
