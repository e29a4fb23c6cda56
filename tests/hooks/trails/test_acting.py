"""Modules that act on the machine."""

from __future__ import annotations

from importlib.metadata import entry_points

from amplifier_hooks.trails.acting import ACTING

ANSWERS_ONLY = {
    "hooks-command-guard",
    "hooks-cost-control",
    "hooks-datetime",
    "hooks-injection-guard",
    "hooks-production-guard",
    "hooks-progress-monitor",
    "hooks-rate-limit",
    "hooks-redaction",
    "hooks-rules",
    "hooks-provenance",
    "hooks-secret-guard",
    "hooks-todo-display",
}
"""Those that were looked at and do nothing but answer; files of costs are redirected."""


def test_every_hook_module_was_looked_at() -> None:
    """A new one that writes or sends would do so where a session is judged again."""
    ours = {one.name for one in entry_points(group="amplifier.modules")}
    assert {name for name in ours if name.startswith("hooks-")} == set(ACTING) | ANSWERS_ONLY


def test_each_has_its_reason() -> None:
    """It is shown behind the name."""
    assert all(why.startswith("it ") for why in ACTING.values())
