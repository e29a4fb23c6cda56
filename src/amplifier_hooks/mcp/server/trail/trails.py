"""The trails that belong to the scope; no others can be named."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_hooks.agent.session.inspection.trails import (
    Trail,
    find_trail_origin,
    list_roots,
    list_trails,
)
from amplifier_hooks.agent.session.origin import Origin
from amplifier_hooks.agent.session.self_test import is_self_test
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.scope import Scope

SESSION = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
"""The id of a session, or the beginning of one: never a path."""

_SHORTEST = 4
_MOST_KNOWN = 20_000


@dataclass(frozen=True, slots=True)
class OpenTrail:
    """A trail of the scope."""

    trail: Trail
    origin: Origin | None

    @property
    def id(self) -> str:
        """The id of its session."""
        return self.trail.path.name

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.trail.path


@dataclass(slots=True)
class Trails:
    """Finds the trails of a scope; blocks, so it belongs in a thread."""

    scope: Scope
    folder: Path
    bundle_file: Path | None = None
    _origins: dict[Path, Origin] = field(default_factory=dict)

    def list(self, *, self_tests: bool = False) -> list[OpenTrail]:
        """The trails of the scope, the newest first."""
        found = [
            trail
            for root in list_roots(self.bundle_file, self.folder)
            for trail in list_trails(root)
            if self_tests or not is_self_test(trail.path)
        ]
        newest = sorted(found, key=lambda one: (one.updated, one.path.name), reverse=True)
        opened = (OpenTrail(one, self._find_origin(one)) for one in newest)
        return [one for one in opened if self.scope.covers(one.origin.folder if one.origin else "")]

    def find(self, session: str) -> OpenTrail:
        """The trail of a session, by its id or the beginning of it; Refused if there is none."""
        if not re.fullmatch(SESSION, session):
            raise Refused("session: give the id of a session as list_sessions has it, not a path")
        known = self.list(self_tests=True)
        exact = [one for one in known if one.id == session]
        begun = [one for one in known if len(session) >= _SHORTEST and one.id.startswith(session)]
        found = exact or begun
        if len(found) > 1:
            raise Refused(f"Several sessions begin with {session!r}: {_name(found)}")
        if not found:
            raise Refused(f"No session {session!r} in {self.scope}; list_sessions shows them")
        return found[0]

    def _find_origin(self, trail: Trail) -> Origin | None:
        """What a trail says of itself never changes, and is read once."""
        known = self._origins.get(trail.path)
        if known is not None:
            return known
        found = find_trail_origin(trail)
        if found is not None:
            if len(self._origins) >= _MOST_KNOWN:
                self._origins.clear()
            self._origins[trail.path] = found
        return found


def _name(found: Sequence[OpenTrail]) -> str:
    return ", ".join(one.id for one in found[:5])


@dataclass(slots=True)
class Deadline:
    """How long a tool may read before it answers with what it has."""

    seconds: float
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end
