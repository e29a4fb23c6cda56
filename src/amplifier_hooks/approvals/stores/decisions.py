"""The end of an approval: decided once, withdrawn, out of time, or lost with its worker.

One conditional statement makes the winner, and everybody else is told who it was.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from amplifier_core.approval import read_option
from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.errors import BadRequest, Conflict, NotAllowed
from amplifier_hooks.approvals.models import (
    ASKING,
    DECIDE,
    Approval,
    ApprovalRequest,
    Choice,
    Decider,
    OfferedScope,
    Option,
    StandingWish,
)
from amplifier_hooks.approvals.stores.approval_rows import (
    load_approval,
    load_with_key,
    read_approvals,
)
from amplifier_hooks.approvals.stores.checks import (
    COMMENT,
    INPUT,
    LABEL,
    clean_text,
    identify_person,
    read_name,
    read_seconds,
    write_json,
)
from amplifier_hooks.approvals.stores.engine import Row, Transaction
from amplifier_hooks.approvals.stores.rules import insert_rule
from amplifier_hooks.approvals.stores.scopes import describe_scopes

LONGEST_RULE = 366 * 24 * 3600.0
MOST_USES = 1_000_000


@dataclass(frozen=True, slots=True)
class ReadChoice:
    """A choice that makes sense for its approval."""

    option: Option
    comment: str
    edited_input: str | None
    """As JSON; None if the input stays as it was."""
    standing: StandingWish | None = None
    scope: OfferedScope | None = None


def read_choice(approval: Approval, choice: Choice) -> ReadChoice:
    """What the choice means; BadRequest if it was not offered."""
    read_name("key", choice.key)
    read_name("nonce", choice.nonce)
    option = _find_option(approval, choice)
    edited = _read_edited_input(approval, choice, option)
    scope = _read_standing(approval, choice, option, edited)
    comment = clean_text(choice.comment, COMMENT)
    return ReadChoice(option, comment, edited, choice.standing, scope)


def _find_option(approval: Approval, choice: Choice) -> Option:
    for option in approval.request.options:
        if option.id == choice.option:
            return option
    offered = ", ".join(f"{one.id} ({one.label})" for one in approval.request.options)
    raise BadRequest(f"Option {_shorten(choice.option)} was not offered; choose from {offered}")


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _read_edited_input(approval: Approval, choice: Choice, option: Option) -> str | None:
    edited = choice.edited_input
    request = approval.request
    if edited is None:
        return None
    text = write_json("edited input", edited, INPUT)
    if not option.allows:
        raise BadRequest(f"{option.label!r} refuses, so there is no input to edit")
    if text == to_json(request.tool_input):
        return None
    if not request.editable:
        raise BadRequest("The input of this call cannot be edited; allow or refuse it as it is")
    if request.requirement.persons > 1:
        raise BadRequest("Several people must allow this, so the input cannot be edited")
    return text


def _read_standing(
    approval: Approval, choice: Choice, option: Option, edited: str | None
) -> OfferedScope | None:
    wish = choice.standing
    if wish is None:
        return None
    if not option.allows:
        raise BadRequest(f"{option.label!r} refuses, and only what allows can be kept as a rule")
    if edited is not None:
        raise BadRequest("An answer with an edited input cannot be kept as a rule")
    read_seconds("lifetime of a rule", wish.seconds, LONGEST_RULE)
    uses = wish.uses
    if uses is not None and not 1 <= uses <= MOST_USES:
        raise BadRequest(f"A rule can be used 1 to {MOST_USES} times, not {_shorten(uses)}")
    offered = describe_scopes(approval)
    for scope in offered:
        if scope.id == wish.scope:
            return scope
    ids = ", ".join(scope.id for scope in offered) or "none"
    raise BadRequest(f"The scope {_shorten(wish.scope)} was not offered; offered: {ids}")


def read_wait(seconds: float) -> float:
    """How long somebody wants to wait; NaN is no length of time."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or math.isnan(seconds):
        raise BadRequest(f"Wait for a number of seconds, not {seconds!r}")
    return max(0.0, float(seconds))


_HOOK = f"{DECIDE}:hook="
_TOOL = f"{DECIDE}:tool="


def refuse_bystander(decider: Decider) -> None:
    """Raise NotAllowed for who can decide nothing at all, before they learn what there is."""
    if not decider.name.strip():
        raise NotAllowed("Nobody is named as the one who decides")
    if ASKING & decider.scopes:
        raise NotAllowed(f"{decider.name} is an agent; agents can never decide")
    if not any(scope == DECIDE or scope.startswith((_HOOK, _TOOL)) for scope in decider.scopes):
        raise NotAllowed(f"{decider.name} may not decide: the scope {DECIDE!r} is missing")


def refuse_unauthorised(request: ApprovalRequest, decider: Decider, allows: bool) -> None:
    """Raise NotAllowed unless this person may give this answer to this request."""
    refuse_bystander(decider)
    if not any(_covers(scope, request) for scope in decider.scopes):
        raise NotAllowed(
            f"{decider.name} may not decide on what hook {request.hook!r} asks about tool "
            f"{request.tool_name!r}"
        )
    if not allows:
        return
    wanted = request.requirement.scope
    if wanted and wanted not in decider.scopes:
        raise NotAllowed(f"{decider.name} may not allow this: the scope {wanted!r} is missing")
    own = identify_person(decider.name) == identify_person(request.requester)
    if own and not request.requirement.requester_may_approve:
        raise NotAllowed(f"{decider.name} has requested this; somebody else must allow it")


def _covers(scope: str, request: ApprovalRequest) -> bool:
    if scope.startswith(_HOOK):
        return fnmatchcase(request.hook, scope.removeprefix(_HOOK))
    if scope.startswith(_TOOL):
        return fnmatchcase(request.tool_name, scope.removeprefix(_TOOL))
    return scope == DECIDE


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
    chosen = {vote.option for vote in load_approval(transaction, approval.id).votes}
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
    ended = read_approvals(transaction, transaction.run(statement, most=PORTION))
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
    approval = load_approval(transaction, approval_id)
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
    return load_approval(transaction, approval_id)


def allows(approval: Approval, label: str) -> bool:
    """What an answer at the terminal means: as it was offered, else as the kernel reads it."""
    for option in approval.request.options:
        if option.label == label:
            return option.allows
    return read_option(label).allows


# The deadline is part of the statement, so no click after it counts, however late it is swept.
_DECIDE = """
UPDATE approvals SET
    status = :status, allowed = :allowed, option_label = :option_label, decided_by = :decided_by,
    decided_via = :decided_via, decided_at = unix_now(), updated = unix_now(),
    decision_key = :decision_key, comment_text = :comment_text, edited_input = :edited_input
WHERE id = :id AND nonce = :nonce AND status = 'pending' AND unix_now() < deadline
    AND (:allowed = 0 OR persons <= (SELECT count(*) FROM votes WHERE approval_id = :id) + :alone)
RETURNING status, option_label AS option, decided_by, decided_via, decided_at, updated,
    comment_text AS comment
"""


def decide(
    transaction: Transaction, approval_id: str, choice: Choice, decider: Decider
) -> Approval | Conflict:
    """Decide, or add one vote of several; Conflict, with how it stands, for who came too late.

    The conflict is returned: raising it would undo that the approval has expired.
    """
    refuse_bystander(decider)
    approval, key = load_with_key(transaction, approval_id)
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
    decided = _record_decision(transaction, approval, choice, decider, read, alone=not votes)
    if not decided and not votes:
        return _settle_loss(transaction, approval, choice, decider)
    transaction.announce("approval", approval_id)
    if not decided or votes:
        return load_approval(transaction, approval_id)
    edited = None if read.edited_input is None else json.loads(read.edited_input)
    changed = {**decided[0], "seconds_left": 0.0, "edited_input": edited}
    approval = approval.model_copy(update=changed)
    if read.scope is None:
        return approval
    rule_id = insert_rule(transaction, approval, read.standing, read.scope, decider.name)
    return approval.model_copy(update={"rule_id": rule_id})


def _record_decision(
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
        expire_one(transaction, approval.id)
        approval, key = load_with_key(transaction, approval.id)
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
