"""Amplifier Hooks: from a bundle to a governed session. What is named here is public."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_hooks.agent.bundles import (
        Bundle,
        BundleError,
        Place,
        Problem,
        bundle_from_plan,
        load_bundle,
        mount_plan_problems,
        validate_mount_plan,
    )
    from amplifier_hooks.agent.session.assembled import AssembledSession
    from amplifier_hooks.agent.session.assembly import open_session
    from amplifier_hooks.agent.session.open_calls import (
        UnknownOutcome,
        unknown_outcomes,
    )
    from amplifier_hooks.agent.session.saved_sessions import SavedSession, SessionInfo, SessionStore
    from amplifier_hooks.frameworks.own_loop import Guard, GuardSync, NotRun, Refused

__all__ = [
    "AssembledSession",
    "Bundle",
    "BundleError",
    "Guard",
    "GuardSync",
    "NotRun",
    "Place",
    "Problem",
    "Refused",
    "SavedSession",
    "SessionInfo",
    "SessionStore",
    "UnknownOutcome",
    "bundle_from_plan",
    "load_bundle",
    "mount_plan_problems",
    "open_session",
    "unknown_outcomes",
    "validate_mount_plan",
]

_HOMES = {
    "agent.bundles": (
        "Bundle",
        "BundleError",
        "Place",
        "Problem",
        "bundle_from_plan",
        "load_bundle",
        "mount_plan_problems",
        "validate_mount_plan",
    ),
    "agent.session.assembled": ("AssembledSession",),
    "agent.session.assembly": ("open_session",),
    "agent.session.saved_sessions": ("SavedSession", "SessionInfo", "SessionStore"),
    "frameworks.own_loop": ("Guard", "GuardSync", "NotRun", "Refused"),
    "agent.session.open_calls": ("UnknownOutcome", "unknown_outcomes"),
}


if not TYPE_CHECKING:  # else checkers take every misspelled name for one that exists

    def __getattr__(name):
        # Imported when asked for: hook modules import this package and need none of it.
        for home, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{home}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
