"""The votes on an approval that several people must allow."""

from __future__ import annotations

from amplifier_foundation.stores.checks.people import identify_person
from amplifier_foundation.stores.engine import Row, Transaction
from amplifier_foundation.stores.values.approval import Approval, Choice, Decider

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


def find_vote(transaction: Transaction, approval_id: str, person: str) -> Row | None:
    """That person's vote, if there is one."""
    found = transaction.run(
        "SELECT * FROM votes WHERE approval_id = :approval_id AND person = :person",
        approval_id=approval_id,
        person=person,
    )
    return found[0] if found else None
