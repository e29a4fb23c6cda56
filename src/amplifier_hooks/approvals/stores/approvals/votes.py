"""The votes on an approval that several people must allow."""

from __future__ import annotations

from amplifier_hooks.approvals.stores.approvals import rows
from amplifier_hooks.approvals.stores.checks.people import identify_person
from amplifier_hooks.approvals.stores.engine import Row, Transaction
from amplifier_hooks.approvals.stores.errors import Conflict
from amplifier_hooks.approvals.stores.values.approval import Approval, Choice, Decider, Option

# Holds the row until the end of the transaction, so that of two votes at the same moment the
# second one sees the first.
_HOLD = """
UPDATE approvals SET updated = unix_now()
WHERE id = :id AND nonce = :nonce AND status = 'pending' AND unix_now() < deadline
RETURNING id
"""
_VOTE = """
INSERT INTO votes (approval_id, person, voter, via, voted_at, option_label, decision_key)
VALUES (:approval_id, :person, :voter, :via, unix_now(), :option_label, :decision_key)
ON CONFLICT (approval_id, person) DO NOTHING
RETURNING person
"""


def cast_vote(
    transaction: Transaction, approval: Approval, choice: Choice, decider: Decider, label: str
) -> bool:
    """Add a person's vote; False if it is too late for one, or the person has voted before."""
    if not transaction.run(_HOLD, id=approval.id, nonce=choice.nonce):
        return False
    return bool(
        transaction.run(
            _VOTE,
            approval_id=approval.id,
            person=identify_person(decider.name),
            voter=decider.name,
            via=decider.via,
            option_label=label,
            decision_key=choice.key,
        )
    )


def find_common_option(transaction: Transaction, approval: Approval) -> Option:
    """What all who voted have allowed; Conflict if they chose different things.

    Who allows it always allows it this once as well, but not the other way round.
    """
    chosen = {vote.option for vote in rows.load(transaction, approval.id).votes}
    options = [option for option in approval.request.options if option.label in chosen]
    once = {option.label: option for option in options if not option.remembered}
    always = {option.label: option for option in options if option.remembered}
    if len(once) > 1 or len(always) > 1:
        labels = " and ".join(repr(option.label) for option in options)
        raise Conflict(f"All must allow the same, but they chose {labels}", approval)
    return next(iter((once or always).values()))


def find_vote(transaction: Transaction, approval_id: str, person: str) -> Row | None:
    """That person's vote, if there is one."""
    found = transaction.run(
        "SELECT * FROM votes WHERE approval_id = :approval_id AND person = :person",
        approval_id=approval_id,
        person=person,
    )
    return found[0] if found else None
