"""How often one peer may come."""

from __future__ import annotations

from amplifier_apps.web.guard import rates
from amplifier_apps.web.guard.rates import RateLimit


def test_so_many_at_once_then_so_many_a_second():
    """Beyond that one is told when to come again."""
    now = [0.0]
    limit = RateLimit(10, 10 / 60, clock=lambda: now[0])
    assert [limit.count("a") for _ in range(10)] == [0] * 10
    assert limit.count("a") == 6
    now[0] += 5.9
    assert limit.count("a") == 1
    now[0] += 0.2
    assert limit.count("a") == 0
    assert limit.count("a") > 0


def test_peers_are_counted_by_themselves():
    """One who comes too often is nobody else's trouble."""
    limit = RateLimit(1, 0.001, clock=lambda: 0.0)
    assert (limit.count("a"), limit.count("b")) == (0, 0)
    assert limit.count("a") > 0


def test_the_longest_silent_peer_is_forgotten_first(monkeypatch):
    """Addresses that come once must not fill the memory."""
    monkeypatch.setattr(rates, "_MOST_PEERS", 2)
    limit = RateLimit(1, 0.001, clock=lambda: 0.0)
    for peer in ("a", "b", "c"):
        limit.count(peer)
    assert len(limit._left) == 2
    assert limit.count("b") > 0
    assert limit.count("a") == 0
