"""The origin of a session for its trail: its folder, its bundle, or a self-test.

`amplifier guard check` fires events of its own in sessions where nobody worked, so they never count
as sessions of people. Their trails say what they are, in a record that only a check under way can
have written; older trails show it by the hook that a check adds to its session.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.bundles.load import PACKAGED
from amplifier_hooks.machine.files import normalize
from amplifier_hooks.trails.bodies import (
    SELF_TEST_HOOK,
    SELF_TEST_PREFIX,
    BundleLoaded,
    SelfTest,
)

if TYPE_CHECKING:  # who looks for a trail runs no session
    from amplifier_core.coordinator import SessionCoordinator
    from amplifier_core.session import AmplifierSession

_ID = re.compile(rf"[a-z_-]+-{SELF_TEST_PREFIX}[0-9a-f]{{16}}")
_RECORDS_BEFORE_TURN = 2_000
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
        records = islice(read_records(open_log(log)), _RECORDS_BEFORE_TURN)
        return any(
            one["type"] == SelfTest.type
            or (one["type"] == "hook_registered" and one["hook"] == SELF_TEST_HOOK)
            for one in records
        )
    except (AuditError, OSError):
        return False


_LOOK = 100
"""So many records are looked at: this one is written before the modules are mounted."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A folder, the bundle's name, and its file; empty for the packaged bundle alone."""

    folder: str
    bundle: str = ""
    file: str = ""


def find_origin(bundle: Bundle, folder: Path) -> Origin:
    """The origin of a session of this bundle that works in this folder."""
    return Origin(str(folder.absolute()), bundle.name, _name_file(bundle))


def _name_file(bundle: Bundle) -> str:
    own = [normalize(path) for path in bundle.sources if path != PACKAGED]
    return str(own[0]) if own else ""


def record_origin(session: AmplifierSession, bundle: Bundle, folder: Path) -> None:
    """Say in the trail of a session where it comes from, so that the trail can be found again."""
    if not session.coordinator.trail.records:
        return
    origin = find_origin(bundle, folder)
    loaded = BundleLoaded(
        folder=origin.folder,
        bundle=origin.bundle,
        file=origin.file,
        digest=bundle.digest,
        hooks_digest=digest_hooks(bundle),
    )
    session.coordinator.trail.write(loaded)


def digest_hooks(bundle: Bundle) -> str:
    """Of the hooks that a bundle asks for and their options, whatever else is in it."""
    plan = bundle.mount_plan
    agents = {name: agent.get("hooks") for name, agent in plan["agents"].items()}
    text = json.dumps([plan["hooks"], agents], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_origin(log: Path) -> Origin | None:
    """The origin that a trail tells of; None if it does not, or cannot be read."""
    from amplifier_audit.errors import AuditError
    from amplifier_audit.log_directory import open_log
    from amplifier_audit.reader import read_records

    try:
        for record in islice(read_records(open_log(log)), _LOOK):
            if record["type"] == BundleLoaded.type:
                loaded = BundleLoaded.parse(record["body"])
                return Origin(loaded.folder, loaded.bundle, loaded.file)
    except (AuditError, OSError):
        return None
    return None
