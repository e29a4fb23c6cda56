"""Which hooks a session can do without: those that are known to guard nothing.

What does not load cannot say what it would have done, so only our own modules can be known as
observers, by their ids. Every other hook may be a guard: a file of the user's, a package of
somebody else's, an id that is misspelt. A session does not start without those.
"""

from __future__ import annotations

from amplifier_core.mount_plan import ModuleEntry, MountPlan

OBSERVERS = frozenset(
    {
        "hooks-backup",
        "hooks-datetime",
        "hooks-git-status",
        "hooks-linter-feedback",
        "hooks-logging",
        "hooks-model-judge",
        "hooks-notify",
        "hooks-otel",
        "hooks-progress-monitor",
        "hooks-session-naming",
        "hooks-test-runner",
        "hooks-todo-display",
    }
)
"""Our modules whose hooks never deny by failing. A new one counts as a guard until it is here."""


def may_guard(entry: ModuleEntry) -> bool:
    """Whether an entry of `hooks` could be a guard; one with a source is what its author made."""
    return entry.source is not None or entry.module not in OBSERVERS


def require_guard(entry: ModuleEntry) -> ModuleEntry:
    """The entry, required if it may guard and does not say whether it is required."""
    if "required" in entry.model_fields_set or not may_guard(entry):
        return entry
    return entry.model_copy(update={"required": True})


def require_guards(plan: MountPlan) -> MountPlan:
    """The plan with every hook required that may guard, unless its entry says otherwise."""
    return plan.model_copy(update={"hooks": tuple(map(require_guard, plan.hooks))})
