"""How often one peer may come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from time import monotonic

_MOST_PEERS = 10_000


@dataclass(slots=True)
class RateLimit:
    """So many requests at once, and so many a second after that, for each peer."""

    burst: float
    per_second: float
    clock: Callable[[], float] = monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def count(self, peer: str) -> int:
        """Count a request; 0 if it may go on, else after how many seconds to come again."""
        now = self.clock()
        left, since = self._left.pop(peer, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.per_second)
        allowed = left >= 1
        self._left[peer] = (left - 1 if allowed else left, now)
        if len(self._left) > _MOST_PEERS:
            # The peer that has been silent for longest is first, and most likely full again.
            del self._left[next(iter(self._left))]
        return 0 if allowed else max(1, ceil((1 - left) / self.per_second))
