"""What may be done without asking, to be taken back; and what was decided, by whom and when."""

from collections.abc import Sequence
from functools import partial

from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.protocol.requests import Grant
from turnkeeper.protocol.wire_changes import Settled
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.glyphs import glyphs_of
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import ago

SCOPES = {
    "session": "in its session",
    "edits": "with every edit in its session",
    "workspace": "in this workspace",
    "always": "everywhere",
}


class Permissions(Filtered):
    """Owns the two lists as they were told last, and which of them is shown."""

    BINDINGS = bindings(KEYS, "grants")
    PLACEHOLDER = "Type to find a permission"

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)
        self._grants: tuple[Grant, ...] = ()
        self._audit: tuple[Settled, ...] = ()
        self._shows_audit = False

    def on_mount(self) -> None:
        super().on_mount()
        self._entitle()
        self._look()

    def heard(self, before: View, now: View) -> None:
        if before.settled is not now.settled:
            self._look()

    def _entitle(self) -> None:
        if self._shows_audit:
            self.entitle("What was decided", "newest first")
        else:
            self.entitle("Allowed without asking", "beside the rules in the settings")

    def _look(self) -> None:
        self.run_worker(self._ask, group="ask", exclusive=True)

    async def _ask(self) -> None:
        permissions = self.live.workspace.permissions
        self._grants = tuple(await self.live.attempt(permissions.grants(), "list what is allowed") or ())
        self._audit = tuple(await self.live.attempt(permissions.audit(), "list what was decided") or ())
        self.put(self.rows(self.live.view))

    def rows(self, view: View) -> Sequence[Row]:
        now = self.host.now()
        if self._shows_audit:
            return [self._decided(f"{at}", one, view, now) for at, one in enumerate(self._audit)]
        return [Row(grant.id, granted(grant, now), f"{grant.rule.tool} {grant.rule.subject}") for grant in self._grants]

    def _decided(self, id: str, one: Settled, view: View, now: float) -> Row:
        glyphs = glyphs_of(self)
        allowed = one.decision == "allowed"
        sign = (glyphs.ok, "$text-success") if allowed else (glyphs.failed, "$text-error")
        subject = " ".join(one.subject.split())[:60]
        who = f"by {self.live.name_of(one.by)}" if one.by else "without asking"
        session = view.sessions.get(one.session_id)
        title = f", {session.title}" if session else ""
        rest = f"  {one.decision} {who} {ago(now - one.at / 1000)} ago{title}"
        line = Content.assemble(sign, f" {one.tool} ", (subject, "bold"), (rest, "$foreground-muted"))
        return Row(id, line, f"{one.tool} {one.subject} {who} {one.decision}")

    def about(self, row: Row | None) -> str:
        if row is None or not self._shows_audit:
            return ""
        reason = self._audit[int(row.id)].reason
        return f"Because: {reason}" if reason else ""

    def action_turn(self) -> None:
        self._shows_audit = not self._shows_audit
        self._entitle()
        self.put(self.rows(self.live.view))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        return action != "revoke" or not self._shows_audit

    def action_revoke(self) -> None:
        if (row := self.marked) is not None:
            self.run_worker(partial(self._take_back, row.id), group="revoke")

    async def _take_back(self, grant_id: str) -> None:
        await self.live.attempt(self.live.workspace.permissions.revoke(grant_id), "take the permission back")
        await self._ask()


def granted(grant: Grant, now: float) -> Content:
    """What is allowed, where, since when."""
    rule = grant.rule
    what = f"{rule.tool or 'any tool'}{f' to {rule.action}' if rule.action else ''}"
    where = SCOPES.get(grant.scope, grant.scope)
    since = f", {ago(now - grant.granted_at)}" if grant.granted_at else ""
    return Content.assemble(
        f"{what} ", (rule.subject or "anything", "bold"), (f"  {where}{since}", "$foreground-muted")
    )
