"""Calls that an agent runs with leave."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from amplifier_hooks.server.wire.bodies import Body
from amplifier_hooks.server.wire.text import Id, Name

Lease = Annotated[float, Field(gt=0, le=24 * 3600.0)]
Approvals = Annotated[list[Id], Field(min_length=1, max_length=1000)]


class ClaimBody(Body):
    """A call that is about to run."""

    session_id: Id
    tool_call_id: Id
    digest: Name
    lease: Lease


class RenewalBody(Body):
    """A call that still runs."""

    approvals: Approvals
    lease: Lease


class ResultBody(Body):
    """A call that ended."""

    approvals: Approvals
    outcome: Literal["executed", "failed"]
