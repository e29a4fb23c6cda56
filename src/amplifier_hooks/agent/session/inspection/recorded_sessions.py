"""Sessions that are recorded and not saved: of other agents, of the gateway, of programs."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from amplifier_core.errors import SessionStateError
from amplifier_hooks.agent.session.inspection.trails import (
    Trail,
    find_trail_origin,
    list_roots,
    list_trails,
)
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
from amplifier_hooks.agent.session.self_test import is_self_test

GATEWAY = "mcp"
WHAT_CAN_BE_DONE = (
    "amplifier audit show ID and amplifier report ID tell what happened; "
    "to go on with one, use the agent or the program itself"
)


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session of which there is a trail; `kind` says whose it is."""

    id: str
    kind: str
    updated: str
    working_dir: str
    bundle: str
    path: str
    self_test: bool = False


def list_unsaved(saved: Container[str], *, self_tests: bool = False) -> list[Trail]:
    """The trails of sessions that are not saved, the newest first."""
    found = [
        trail
        for root in list_roots()
        for trail in list_trails(root)
        if trail.path.name not in saved and (self_tests or not is_self_test(trail.path))
    ]
    return sorted(found, key=lambda trail: trail.updated, reverse=True)


def describe_recorded(trail: Trail, agents: Mapping[str, str]) -> RecordedSession:
    """What a list shows of such a session; `agents` has the names of agents by their prefixes."""
    origin = find_trail_origin(trail)
    return RecordedSession(
        id=trail.path.name,
        kind=_name_kind(trail.path, agents),
        updated=datetime.fromtimestamp(trail.updated, UTC).isoformat(timespec="seconds"),
        working_dir=origin.folder if origin else "",
        bundle=origin.bundle if origin else "",
        path=str(trail.path),
        self_test=is_self_test(trail.path),
    )


def find_saved(store: SessionStore, wanted: str) -> SessionInfo:
    """The saved session that is meant; the SessionStateError says of one that is recorded only
    what can be done with it."""
    try:
        return store.find(wanted)
    except SessionStateError:
        names = [one.path.name for one in list_unsaved((), self_tests=True)]
        found = [name for name in names if wanted and name.startswith(wanted)]
        if not found:
            raise
        raise SessionStateError(
            f"Session {found[0]!r} is recorded, not saved: {WHAT_CAN_BE_DONE}"
        ) from None


def _name_kind(path: Path, agents: Mapping[str, str]) -> str:
    prefix, dash, _ = path.name.partition("-")
    if dash and prefix == GATEWAY:
        return "MCP gateway"
    return agents.get(prefix, "") if dash else ""
