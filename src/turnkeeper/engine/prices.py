"""What a model's tokens cost, as the decisions about money know it."""

from turnkeeper.core.usage import Prices
from turnkeeper.models.model import ModelInfo


def prices(info: ModelInfo) -> Prices:
    return Prices(
        input=info.cost_per_1m_in,
        output=info.cost_per_1m_out,
        cache_write=info.cost_per_1m_in_cached,
        cache_read=info.cost_per_1m_out_cached,
        flat_rate=info.flat_rate,
    )
