"""Deciding: one conditional statement makes the winner, and everybody else is told who it was."""

from __future__ import annotations

from dataclasses import replace

from amplifier_hooks.approvals.stores.approvals import endings, rows
from amplifier_hooks.approvals.stores.approvals.choices import ReadChoice, read_choice
from amplifier_hooks.approvals.stores.approvals.rights import refuse_bystander, refuse_unauthorised
from amplifier_hooks.approvals.stores.approvals.votes import (
    cast_vote,
    find_common_option,
    find_vote,
)
from amplifier_hooks.approvals.stores.checks.people import identify_person
from amplifier_hooks.approvals.stores.engine import Row, Transaction
from amplifier_hooks.approvals.stores.errors import Conflict
from amplifier_hooks.approvals.stores.rules import insert_rule
from amplifier_hooks.approvals.stores.values.approval import Approval, Choice, Decider

# The deadline is part of the statement, so no click after it counts, however late it is swept.
_DECIDE = """
UPDATE approvals SET
    status = :status, allowed = :allowed, option_label = :option_label, decided_by = :decided_by,
    decided_via = :decided_via, decided_at = unix_now(), updated = unix_now(),
    decision_key = :decision_key, comment_text = :comment_text, edited_input = :edited_input
WHERE id = :id AND nonce = :nonce AND status = 'pending' AND unix_now() < deadline
    AND (:allowed = 0 OR persons <= (SELECT count(*) FROM votes WHERE approval_id = :id) + :alone)
RETURNING *, unix_now() AS now
"""


def decide(
    transaction: Transaction, approval_id: str, choice: Choice, decider: Decider
) -> Approval | Conflict:
    """Decide, or add one vote of several; Conflict, with how it stands, for who came too late.

    The conflict is returned: raising it would undo that the approval has expired.
    """
    refuse_bystander(decider)
    approval, key = rows.load_with_key(transaction, approval_id)
    read = read_choice(approval, choice)
    refuse_unauthorised(approval.request, decider, read.option.allows)
    if _was_decided_so(transaction, approval, key, choice, decider):
        return approval
    if approval.status != "pending":
        return _settle_loss(transaction, approval, choice, decider)
    votes = read.option.allows and approval.request.requirement.persons > 1
    if votes and not cast_vote(transaction, approval, choice, decider, read.option.label):
        return _settle_loss(transaction, approval, choice, decider)
    if votes:
        read = replace(read, option=find_common_option(transaction, approval))
    decided = _run(transaction, approval, choice, decider, read, alone=not votes)
    if not decided and not votes:
        return _settle_loss(transaction, approval, choice, decider)
    transaction.announce("approval", approval_id)
    if not decided:
        return rows.load(transaction, approval_id)
    approval = rows.read_all(transaction, decided, approval.request)[0]
    if read.scope is None:
        return approval
    rule_id = insert_rule(transaction, approval, read.standing, read.scope, decider.name)
    return replace(approval, rule_id=rule_id)


def _run(
    transaction: Transaction,
    approval: Approval,
    choice: Choice,
    decider: Decider,
    read: ReadChoice,
    alone: bool,
) -> list[Row]:
    return transaction.run(
        _DECIDE,
        id=approval.id,
        nonce=choice.nonce,
        status="approved" if read.option.allows else "denied",
        allowed=int(read.option.allows),
        option_label=read.option.label,
        decided_by=decider.name,
        decided_via=decider.via,
        decision_key=choice.key,
        comment_text=read.comment,
        edited_input=read.edited_input,
        alone=int(alone),
    )


def _was_decided_so(
    transaction: Transaction, approval: Approval, key: str, choice: Choice, decider: Decider
) -> bool:
    """Whether this very decision of this person has been taken before."""
    person = identify_person(decider.name)
    if key == choice.key and identify_person(approval.decided_by) == person:
        return True
    if approval.request.requirement.persons == 1:
        return False
    vote = find_vote(transaction, approval.id, person)
    return vote is not None and vote["decision_key"] == choice.key


def _settle_loss(
    transaction: Transaction, approval: Approval, choice: Choice, decider: Decider
) -> Approval | Conflict:
    """What somebody gets whose decision changed nothing."""
    if approval.status == "pending":
        endings.expire_one(transaction, approval.id)
        approval, key = rows.load_with_key(transaction, approval.id)
        # A double click, whose first half was on its way when the second one looked.
        if _was_decided_so(transaction, approval, key, choice, decider):
            return approval
    if approval.status != "pending":
        return Conflict(describe_end(approval), approval)
    if approval.nonce != choice.nonce:
        return Conflict("The decision is about another question than this one", approval)
    return Conflict("You have allowed this already; somebody else must allow it too", approval)


def describe_end(approval: Approval) -> str:
    """How an approval stands, in a sentence."""
    if approval.status == "expired":
        return "Nobody decided in time; it has expired"
    if approval.status == "cancelled" and not approval.decided_by:
        return "The agent has stopped asking"
    option = f": {approval.option}" if approval.option else ""
    return f"{approval.decided_by} has decided already{option}"
