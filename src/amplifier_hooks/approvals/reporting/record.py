"""A record of a session's trail as it is published."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from amplifier_core.utils import safe_repr
from amplifier_hooks.approvals.stores.values.session import SessionRecord

LONGEST_BODY = 64 * 1024


def write_record(
    number: int,
    type: str,
    body: Mapping[str, Any],
    *,
    turn: int | None = None,
    event: str | None = None,
    hook: str | None = None,
) -> SessionRecord:
    """The record with its time; a body that is too long, or is no JSON, is left out and says so."""
    return SessionRecord(
        number=number,
        time=time.time(),
        type=type,
        event=event or "",
        hook=hook or "",
        turn=turn or 0,
        body=_fit(body),
    )


def _fit(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Plain values of its own: the session may change what it handed over."""
    try:
        text = json.dumps(body, default=safe_repr)
    except (ValueError, TypeError, RecursionError):
        return {"left_out": "it cannot be written as JSON"}
    if len(text) > LONGEST_BODY:
        # What hooks answered is counted, however large the data was that they answered to.
        answers = {key: body[key] for key in ("action", "hooks") if key in body}
        return {
            **(_fit(answers) if len(answers) < len(body) else {}),
            "left_out": f"{len(text)} bytes",
        }
    fitting: Mapping[str, Any] = json.loads(text, parse_constant=str)
    return fitting
