"""Figures of hooks as metrics: told once, when a session ends."""

from __future__ import annotations

from typing import Any

from tests.hooks.guards.otel.collector import collector
from tests.support.harness import Harness

FIGURES: dict[str, Any] = {
    "answers": {"continue": 5, "deny": 2, "modify": 0},
    "shadowed": {"ask_user": 3},
    "failures": 1,
    "timeouts": 0,
    "p50_ms": 2.0,
    "p99_ms": None,
}
HOOK = {"amplifier.hook.name": "guard"}


async def test_what_hooks_did_in_a_session_is_sent_at_its_end(harness: Harness) -> None:
    """By hook and action; what is no figure is left out."""
    odd = {"text": "no", "guard": FIGURES, "wrong": {"answers": {"deny": "many"}, "p50_ms": "x"}}
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            for stats in ({"hooks": odd}, {"hooks": 3}, None):
                await harness.emit("session:start", mount_plan={}, source="startup")
                await harness.emit("session:end", reason="complete", stats=stats)
    calls = kept.metric("amplifier.hook.calls")
    assert sorted((point["amplifier.hook.action"], value) for point, value in calls) == [
        ("continue", 5),
        ("deny", 2),
    ]
    shadowed = {**HOOK, "amplifier.hook.action": "ask_user"}
    assert kept.metric("amplifier.hook.shadowed") == [(shadowed, 3)]
    assert kept.metric("amplifier.hook.failures") == [(HOOK, 1)]
    assert kept.metric("amplifier.hook.timeouts") == []
    ((attributes, seconds),) = kept.metric("amplifier.hook.duration")
    assert (attributes, seconds) == ({**HOOK, "amplifier.hook.quantile": "p50"}, 0.002)
