"""The state of a session, as another process gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.errors import SessionStateError

STATE_VERSION = 1

OPEN_CALLS = "open_calls"
"""The key of the session's state under which a resumed session names the calls to be run."""


def read_state(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """A saved state as a dict of one's own, empty if there is none; refuses another version."""
    if state is None:
        return {}
    version = state.get("version")
    if version != STATE_VERSION:
        raise SessionStateError(f"A saved state of version {version!r}; this is {STATE_VERSION}")
    return dict(state)
