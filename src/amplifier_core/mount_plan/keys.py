"""The keys that a mount plan may have.

One that misspells a key of ours is refused: what it was meant to say would silently not hold. Plans
of the ecosystem also carry keys for their applications, so any other is kept and told once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_core.mount_plan.schema import Approval, Hook, Limits, PlanSession
from amplifier_core.utils.suggest import find_slip

logger = logging.getLogger(__name__)

PLAN = frozenset(
    {
        "session",
        "providers",
        "tools",
        "hooks",
        "agents",
        "orchestrator",
        "context",
        "approval",
        "audit",
        "sandbox",
        "name",
        "description",
        "include",
        "inherit",
    }
)
SESSION = frozenset(PlanSession.model_fields)
LIMITS = frozenset(Limits.model_fields)
APPROVAL = frozenset(Approval.model_fields)
ENTRY = frozenset(Hook.model_fields)

_OWN_USE = "x-"
_told: set[str] = set()


def find_misspelt(plan: Mapping[str, Any]) -> str | None:
    """A key of a plan that misspells one of ours, in a sentence; entries are read one by one."""
    for where, section, known in _list_sections(plan):
        problem = judge_keys(section, known, where)
        if problem is not None:
            return problem
    return None


def judge_keys(section: Mapping[str, Any], known: frozenset[str], where: str = "") -> str | None:
    """A key that misspells a known one, in a sentence; of others that are not known, warn once."""
    for name in section:
        if name in known or str(name).startswith(_OWN_USE):
            continue
        key = f"{where}.{name}" if where else str(name)
        meant = find_slip(str(name), sorted(known))
        if meant is not None:
            return f"{key}: unknown key {name!r}; did you mean {meant!r}?"
        if key not in _told:
            _told.add(key)
            logger.warning("%s: unknown key %r; have %s", key, name, ", ".join(sorted(known)))
    return None


def _list_sections(
    plan: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any], frozenset[str]]]:
    session = plan["session"]
    sections = {
        "": (plan, PLAN),
        "session": (session, SESSION),
        "session.limits": (session.get("limits"), LIMITS),
        "approval": (plan.get("approval"), APPROVAL),
    }
    for where, (section, known) in sections.items():
        if isinstance(section, Mapping):
            yield where, section, known
