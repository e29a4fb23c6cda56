"""What is known of hooks without running them."""

from __future__ import annotations

from importlib.metadata import entry_points

from amplifier_core.loader import GROUP
from amplifier_hooks.mcp.server.policy.knowledge import ACT_WHEN_MOUNTED, KNOWN
from amplifier_hooks.modules.observers import OBSERVERS


def test_what_is_known_is_known_of_modules_that_there_are() -> None:
    """A module of ours that is not in the table is treated like anybody's."""
    ours = {one.name for one in entry_points(group=GROUP) if one.name.startswith("hooks-")}
    assert set(KNOWN) <= ours
    assert set(KNOWN) >= ACT_WHEN_MOUNTED


def test_what_only_observes_is_an_observer_for_sessions_too() -> None:
    """A guard is never passed over."""
    quiet = {name for name, known in KNOWN.items() if known.kind == "observes"}
    assert quiet < OBSERVERS


def test_why_a_hook_was_not_asked_is_said_in_words() -> None:
    """What it does, and that it did not do it."""
    assert KNOWN["hooks-rate-limit"].why.endswith("; it was not called, so nothing was counted")
    assert KNOWN["hooks-rules"].why == "applies the rules of the bundle"
