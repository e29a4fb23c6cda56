"""The right to run an approved call, once: with a fence that only grows, and a lease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from amplifier_hooks.approvals.errors import BadRequest, Conflict
from amplifier_hooks.approvals.link import Outcome
from amplifier_hooks.approvals.models import Approval, Claim
from amplifier_hooks.approvals.stores.approval_rows import load_approvals, read_approvals
from amplifier_hooks.approvals.stores.checks import read_name, read_seconds
from amplifier_hooks.approvals.stores.decisions import allows
from amplifier_hooks.approvals.stores.engine import Check, Engine, Transaction, do_after

LONGEST_LEASE = 24 * 3600.0

_NEXT_FENCE = "UPDATE fences SET last = last + 1 WHERE name = 'claims' RETURNING last"
_CLAIM = """
UPDATE approvals SET
    status = 'executing', fence = :fence, lease_until = unix_now() + :lease, updated = unix_now()
WHERE session_id = :session_id AND tool_call_id = :tool_call_id AND status = 'approved'
RETURNING id, lease_until
"""
_RENEW = """
UPDATE approvals SET lease_until = unix_now() + :lease, updated = unix_now()
WHERE fence = :fence AND status = 'executing'
RETURNING id, lease_until
"""
_FINISH = """
UPDATE approvals SET status = :outcome, outcome = :outcome, updated = unix_now()
WHERE fence = :fence AND status = 'executing'
RETURNING id
"""
_OF_CALL = """
SELECT *, unix_now() AS now FROM approvals
WHERE session_id = :session_id AND tool_call_id = :tool_call_id ORDER BY created, id
"""
# After these, the same question may have been put and answered anew.
_OVER = frozenset({"executed", "failed", "unknown", "expired", "cancelled"})


class Claims:
    """Claims on approved calls."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def claim(
        self,
        session_id: str,
        tool_call_id: str,
        digest: str,
        lease: float,
        *,
        check: Check | None = None,
    ) -> Claim | None:
        """The right to run a call, once; None if nobody was asked about it here.

        Raises Conflict if it was claimed before, or one of its approvals was not allowed.
        """
        read_name("session_id", session_id)
        read_name("tool_call_id", tool_call_id)
        seconds = read_seconds("lease", lease, LONGEST_LEASE)
        call = {"session_id": session_id, "tool_call_id": tool_call_id}
        work = partial(_claim, call=call, digest=digest, lease=seconds)
        return await self._engine.write(do_after(check, work))

    async def renew(self, claim: Claim, lease: float, *, check: Check | None = None) -> Claim:
        """Keep a claim while the call runs; Conflict if it was given up as unknown."""
        seconds = read_seconds("lease", lease, LONGEST_LEASE)
        work = partial(_renew, claim=claim, lease=seconds)
        return await self._engine.write(do_after(check, work), repeatable=True)

    async def finish(self, claim: Claim, outcome: Outcome, *, check: Check | None = None) -> None:
        """Record how the call ended; Conflict if the claim was given up as unknown."""
        if outcome not in ("executed", "failed"):
            raise BadRequest(f"A call ends as 'executed' or 'failed', not {outcome!r}")
        work = partial(_finish, claim=claim, outcome=outcome)
        await self._engine.write(do_after(check, work), repeatable=True)


def _claim(
    transaction: Transaction, call: Mapping[str, str], digest: str, lease: float
) -> Claim | None:
    if not transaction.run(_OF_CALL, **call):
        return None
    fence = transaction.run(_NEXT_FENCE)[0]["last"]
    claimed = transaction.run(_CLAIM, **call, fence=fence, lease=lease)
    asked = read_approvals(transaction, transaction.run(_OF_CALL, **call))
    ours = [approval for approval in asked if approval.fence == fence]
    # Raising here undoes the claim.
    _refuse_obstacle(asked, fence)
    _refuse_other_digest(ours, digest)
    if not claimed:
        return None
    for approval in ours:
        transaction.announce("approval", approval.id)
    lease_until = min(row["lease_until"] for row in claimed)
    return Claim(
        fence=fence, approvals=tuple(approval.id for approval in ours), lease_until=lease_until
    )


def _refuse_obstacle(asked: Sequence[Approval], fence: int) -> None:
    """Raise Conflict unless the call may run, as far as what was not claimed now is concerned."""
    newest = {_identify_question(approval): approval.id for approval in asked}
    for approval in asked:
        was_asked_again = newest[_identify_question(approval)] != approval.id
        if approval.fence == fence or (approval.status in _OVER and was_asked_again):
            continue
        if not _was_settled_elsewhere(approval):
            raise Conflict(f"The call cannot run: {_describe_obstacle(approval)}", approval)


def _identify_question(approval: Approval) -> tuple[str, str, str, str]:
    request = approval.request
    return request.hook, request.event, request.prompt, request.digest


def _was_settled_elsewhere(approval: Approval) -> bool:
    """Whether the call may run by an answer at the terminal, or by the gate's own default."""
    if approval.status == "cancelled":
        return bool(approval.decided_by) and allows(approval, approval.option)
    return approval.status == "expired" and approval.request.default == "allow"


def _describe_obstacle(approval: Approval) -> str:
    about = f"what hook {approval.request.hook!r} asked"
    if approval.status in ("executing", "executed", "failed", "unknown"):
        return f"it was claimed before, and its state is {approval.status!r}"
    if approval.status == "pending":
        return f"{about} has not been answered"
    if approval.status == "expired":
        return f"{about} was not answered in time"
    if approval.status == "denied" or approval.decided_by:
        return f"{about} was refused by {approval.decided_by}"
    return f"{about} was withdrawn without an answer"


def _refuse_other_digest(ours: Sequence[Approval], digest: str) -> None:
    """Raise Conflict if something else would run than what was shown.

    Where a person edited the input, what runs is what they wrote; the kernel has put that to the
    hooks anew. Whoever had allowed the same input before the edit is not asked again.
    """
    shown = {approval.request.digest for approval in ours if approval.edited_input is not None}
    for approval in ours:
        if approval.request.digest not in {digest, *shown}:
            raise Conflict(
                f"The call cannot run: what would run (digest {digest[:16]}…) is not what "
                f"{approval.decided_by} allowed ({approval.request.digest[:16]}…)",
                approval,
            )


def _renew(transaction: Transaction, claim: Claim, lease: float) -> Claim:
    renewed = transaction.run(_RENEW, fence=claim.fence, lease=lease)
    if {row["id"] for row in renewed} != set(claim.approvals):
        raise _explain_loss(transaction, claim)
    return Claim(
        fence=claim.fence,
        approvals=claim.approvals,
        lease_until=min(row["lease_until"] for row in renewed),
    )


def _finish(transaction: Transaction, claim: Claim, outcome: Outcome) -> None:
    finished = {row["id"] for row in transaction.run(_FINISH, fence=claim.fence, outcome=outcome)}
    if finished != set(claim.approvals):
        _refuse_other_end(transaction, claim, outcome)
    for approval_id in finished:
        transaction.announce("approval", approval_id)


def _refuse_other_end(transaction: Transaction, claim: Claim, outcome: Outcome) -> None:
    """Who says the same again has missed the answer; all else is a conflict."""
    held = load_approvals(transaction, claim.approvals)
    ended = {approval.id for approval in held if approval.status == outcome}
    if ended != set(claim.approvals) or any(one.fence != claim.fence for one in held):
        raise _explain_loss(transaction, claim)


def _explain_loss(transaction: Transaction, claim: Claim) -> Conflict:
    held = load_approvals(transaction, claim.approvals)
    lost = [one for one in held if one.fence != claim.fence or one.status != "executing"]
    if not lost:
        return Conflict(f"There is no claim {claim.fence} on these approvals")
    return Conflict(
        f"The claim {claim.fence} no longer holds: the state is {lost[0].status!r}", lost[0]
    )
