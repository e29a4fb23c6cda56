"""The figures of a hook."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.hook import HookFigures
from amplifier_hooks.trails import RecordedHook


def test_registrations_of_one_name_add_up() -> None:
    """What it listens to, and whether one of them is a guard."""
    hook, other = HookFigures(), HookFigures()
    hook.register(RecordedHook(1, "h", "tool:pre", 0))
    other.register(RecordedHook(2, "h", "tool:post", 0, on_error="deny", module="m", shadow=True))
    other.counts.calls += 1
    hook.add(other)
    assert (hook.events, hook.guard, hook.shadow, hook.module, hook.counts.calls) == (
        {"tool:pre", "tool:post"},
        True,
        True,
        "m",
        1,
    )
