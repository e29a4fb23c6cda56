"""Bodies of records, as a test wants them to have been written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_hooks.trails.bodies import Body, read_body


def make_body(type: str, members: Mapping[str, Any], hook: str | None = None) -> Body:
    """What a record of that type with these members says."""
    return read_body({"type": type, "hook": hook, "body": members})
