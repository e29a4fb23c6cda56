"""How an approval ends without a decision: withdrawn, out of time, or lost with its worker."""

from __future__ import annotations

from amplifier_core.approval import read_option
from amplifier_hooks.approvals.stores.approvals import rows
from amplifier_hooks.approvals.stores.checks.fields import clean_text, read_name
from amplifier_hooks.approvals.stores.checks.limits import COMMENT, LABEL
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.values.approval import Approval

PORTION = 500
"""How many are ended in one transaction."""

_EXPIRE_ONE = """
UPDATE approvals SET status = 'expired', updated = unix_now()
WHERE id = :id AND status = 'pending' AND deadline <= unix_now()
RETURNING id
"""
_EXPIRE = """
UPDATE approvals SET status = 'expired', updated = unix_now()
WHERE status = 'pending' AND deadline <= unix_now() AND id IN (
    SELECT id FROM approvals WHERE status = 'pending' AND deadline <= unix_now()
    ORDER BY deadline LIMIT :most
)
RETURNING *, unix_now() AS now
"""
_CANCEL = """
UPDATE approvals SET
    status = 'cancelled', updated = unix_now(), allowed = :allowed, option_label = :option_label,
    decided_by = :decided_by, decided_via = :decided_via, comment_text = :comment_text,
    decided_at = CASE WHEN :decided_by = '' THEN NULL ELSE unix_now() END
WHERE id = :id AND status = 'pending'
RETURNING id
"""
_LOSE = """
UPDATE approvals SET status = 'unknown', outcome = 'unknown', updated = unix_now()
WHERE status = 'executing' AND lease_until <= unix_now() AND id IN (
    SELECT id FROM approvals WHERE status = 'executing' AND lease_until <= unix_now() LIMIT :most
)
RETURNING *, unix_now() AS now
"""
# The votes go with their approval.
_REMOVE = """
DELETE FROM approvals
WHERE id IN (
    SELECT id FROM approvals
    WHERE updated <= unix_now() - :age AND status NOT IN ('pending', 'approved', 'executing')
    LIMIT :most
)
RETURNING id
"""


def expire_one(transaction: Transaction, approval_id: str) -> bool:
    """End it if its time is over."""
    expired = transaction.run(_EXPIRE_ONE, id=approval_id)
    if expired:
        transaction.announce("approval", approval_id)
    return bool(expired)


def expire_overdue(transaction: Transaction) -> list[Approval]:
    """End a portion of those whose time is over."""
    return _end(transaction, _EXPIRE)


def mark_lost(transaction: Transaction) -> list[Approval]:
    """Give up a portion of those whose worker was not heard of: nobody knows how they ended."""
    return _end(transaction, _LOSE)


def _end(transaction: Transaction, statement: str) -> list[Approval]:
    ended = rows.read_all(transaction, transaction.run(statement, most=PORTION))
    for approval in ended:
        transaction.announce("approval", approval.id)
    return ended


def remove_old(transaction: Transaction, age: float) -> int:
    """Remove a portion of those that ended so many seconds ago; returns how many."""
    return len(transaction.run(_REMOVE, age=age, most=PORTION))


def withdraw(
    transaction: Transaction, approval_id: str, by: str, option: str, reason: str
) -> Approval:
    """Stop asking; with `by` and `option`, because somebody has answered at the terminal."""
    approval = rows.load(transaction, approval_id)
    read_name("name of who answered", by, may_be_empty=True)
    if not expire_one(transaction, approval_id):
        answered = bool(by and option)
        cancelled = transaction.run(
            _CANCEL,
            id=approval_id,
            allowed=int(allows(approval, option)) if answered else None,
            option_label=clean_text(option, LABEL) if answered else "",
            decided_by=by if answered else "",
            decided_via="terminal" if answered else "",
            comment_text=clean_text(reason, COMMENT),
        )
        if cancelled:
            transaction.announce("approval", approval_id)
    return rows.load(transaction, approval_id)


def allows(approval: Approval, label: str) -> bool:
    """What an answer at the terminal means: as it was offered, else as the kernel reads it."""
    for option in approval.request.options:
        if option.label == label:
            return option.allows
    return read_option(label).allows
