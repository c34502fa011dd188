"""Who did what: a client's name is written down before the first thing it does that is kept."""

from collections import OrderedDict

from turnkeeper.engine.means import Means
from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import ClientNamed
from turnkeeper.protocol.ids import WORKSPACE, ClientId
from turnkeeper.store.store import NAMES_MAX


class Names:
    """Owns which names are known to be written down: of as many clients as the store tells of."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._kept: OrderedDict[ClientId, ClientName] = OrderedDict()

    async def load(self) -> None:
        self._kept = OrderedDict((who.client_id, who) for who in (await self._means.store.snapshot()).names)

    async def keep(self, who: ClientName) -> None:
        """Write the name down, unless it is written already, or is none."""
        before = self._kept.get(who.client_id)
        if not (who.client_id and who.name) or before == who:
            return
        # Taken for written at once: of what one client does at the same time, one writes it.
        self._kept[who.client_id] = who
        try:
            await self._means.store.append(WORKSPACE, [ClientNamed(who)], after=None, at=self._means.now())
        except BaseException:
            self._kept.pop(who.client_id, None)
            raise
        self._kept.move_to_end(who.client_id)
        while len(self._kept) > NAMES_MAX:
            self._kept.popitem(last=False)
