"""Sessions that this program holds with itself: `amplifier guard check` fires events of its own.

Nobody worked in them, so they never count as sessions of people. Their trails say what they are,
in a record that only a check under way can have written; older trails show it by the hook that a
check adds to its session.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.approvals.models import SELF_TEST_HOOK, SELF_TEST_PREFIX
from amplifier_hooks.trails.bodies import SelfTest

PREFIX = SELF_TEST_PREFIX
HOOK = SELF_TEST_HOOK

_ID = re.compile(rf"[a-z_-]+-{PREFIX}[0-9a-f]{{16}}")
_LOOK = 2_000
"""So many records are looked at: the hook is added before the first turn."""


def record_self_test(coordinator: SessionCoordinator, command: str) -> None:
    """Say in the trail of a session that a command of ours holds it with itself."""
    coordinator.trail.write(SelfTest(command=command))


def is_self_test(log: Path) -> bool:
    """Whether a trail is one of a self-test; its name alone decides nothing."""
    from amplifier_audit.errors import AuditError
    from amplifier_audit.log_directory import open_log
    from amplifier_audit.reader import read_records

    if not _ID.fullmatch(log.name):
        return False
    try:
        records = islice(read_records(open_log(log)), _LOOK)
        return any(
            one["type"] == SelfTest.type
            or (one["type"] == "hook_registered" and one["hook"] == HOOK)
            for one in records
        )
    except (AuditError, OSError):
        return False
