"""Finding an approval or a rule by the start of its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import ApprovalFilter, StandingRule

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Approval
    from amplifier_hooks.cli.commands.approvals.desk import Desk

T = TypeVar("T")

WHOLE = 32
"""The characters of a whole id."""


async def find_approval(desk: Desk, given: str) -> Approval:
    """The approval with this id, or the one whose id begins so: waiting ones first."""
    if len(given) >= WHOLE:
        return await desk.get(given)
    waiting, _ = await desk.list(ApprovalFilter(status=("pending",), limit=500))
    if not any(one.id.startswith(given) for one in waiting):
        waiting, _ = await desk.list(ApprovalFilter(newest_first=True, limit=500))
    return _choose([one for one in waiting if one.id.startswith(given)], "approval", given)


async def find_rule(desk: Desk, given: str) -> StandingRule:
    """The rule with this id, or the one whose id begins so."""
    rules = await desk.list_rules(include_ended=True)
    return _choose([one for one in rules if one.id.startswith(given)], "rule", given)


def _choose(found: Sequence[T], what: str, given: str) -> T:
    if not given.strip() or not found:
        raise NotFound(f"There is no {what} whose id begins with {given!r}")
    if len(found) > 1:
        raise BadRequest(
            f"{len(found)} {what}s have ids that begin with {given!r}; write more of it"
        )
    return found[0]
