"""The session's scrubbers, for what a module writes down or sends away itself."""

from __future__ import annotations

from typing import Any

from amplifier_foundation.machine.json_text import to_plain


def scrubbed(coordinator: Any, value: Any) -> Any:
    """The value as it may leave the session: what redaction hides from the trail is hidden here.

    A coordinator of other making may have no scrubbers; then the value is what it was.
    """
    scrub = getattr(coordinator, "scrub", None)
    if scrub is None:
        return value
    try:
        return scrub(value)
    except RecursionError:
        return scrub(to_plain(value))
