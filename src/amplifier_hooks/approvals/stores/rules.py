"""Standing rules: made by a decision, found by requests, ended by time, use or a person."""

from __future__ import annotations

import secrets
from functools import partial

from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalRequest,
    OfferedScope,
    StandingRule,
    StandingWish,
)
from amplifier_hooks.approvals.stores.checks import (
    PROMPT,
    clean_text,
    identify_person,
    read_name,
    refuse_bad_request,
)
from amplifier_hooks.approvals.stores.engine import (
    Check,
    Engine,
    Row,
    Transaction,
    do_after,
    read_row,
)
from amplifier_hooks.approvals.stores.scopes import covers, name_question

_HOLDS = "revoked_at IS NULL AND expires > unix_now() AND (uses_left IS NULL OR uses_left > 0)"
_INSERT = """
INSERT INTO rules (
    id, author, created, expires, hook, event, tool_name, prompt, scope, digest, working_dir,
    machine, approval_id, required_scope, uses_left, description, requester,
    question
) VALUES (
    :id, :author, unix_now(), unix_now() + :seconds, :hook, :event, :tool_name, :prompt, :scope,
    :digest, :working_dir, :machine, :approval_id, :required_scope, :uses_left, :description,
    :requester, :question
)
"""
_CANDIDATES = f"""
SELECT * FROM rules
WHERE hook = :hook AND event = :event AND tool_name = :tool_name AND working_dir = :working_dir
    AND machine = :machine AND requester = :requester
    AND (:required_scope = '' OR required_scope = :required_scope)
    AND (scope <> 'exact' OR digest = :digest) AND {_HOLDS}
ORDER BY created, id
"""
_USE = f"""
UPDATE rules SET uses = uses + 1, uses_left = uses_left - 1, last_used = unix_now()
WHERE id = :id AND {_HOLDS}
RETURNING *
"""
_REVOKE = """
UPDATE rules SET revoked_by = :revoked_by, revoked_at = unix_now()
WHERE id = :id AND revoked_at IS NULL
RETURNING *
"""
Found = list[StandingRule]  # within the class, `list` is a method


class Rules:
    """The standing rules of a store. Only a decision makes one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find_rule(
        self, request: ApprovalRequest, *, check: Check | None = None
    ) -> StandingRule | None:
        """The standing rule that allows this, whose use is counted with this call."""
        refuse_bad_request(request)
        return await self._engine.write(do_after(check, partial(_find, request=request)))

    async def list(self, include_ended: bool = False) -> Found:
        """The rules that hold, or all there ever were; the newest first."""
        where = "TRUE" if include_ended else _HOLDS
        statement = f"SELECT * FROM rules WHERE {where} ORDER BY created DESC, id"
        found = await self._engine.read(lambda transaction: transaction.run(statement))
        return [_read(row) for row in found]

    async def get(self, rule_id: str) -> StandingRule:
        """The rule of that id, ended or not."""
        return await self._engine.read(lambda transaction: _load(transaction, rule_id))

    async def revoke(self, rule_id: str, by: str) -> StandingRule:
        """End a rule; one that was revoked before stays as it is."""
        read_name("name of who revokes", by)
        return await self._engine.write(lambda transaction: _revoke(transaction, rule_id, by))


def insert_rule(
    transaction: Transaction,
    approval: Approval,
    wish: StandingWish | None,
    scope: OfferedScope,
    author: str,
) -> str:
    """Keep an answer as a rule, in the transaction that decides; returns the rule's id."""
    if wish is None:
        raise BadRequest("A rule needs a lifetime")
    rule_id = secrets.token_hex(16)
    request = approval.request
    transaction.run(
        _INSERT,
        id=rule_id,
        author=author,
        seconds=float(wish.seconds),
        hook=request.hook,
        event=request.event,
        tool_name=request.tool_name,
        prompt=clean_text(request.prompt, PROMPT),
        scope=scope.id,
        digest=request.digest,
        working_dir=request.working_dir,
        machine=request.machine,
        approval_id=approval.id,
        required_scope=request.requirement.scope,
        uses_left=wish.uses,
        description=clean_text(scope.words, PROMPT),
        requester=request.requester,
        question=name_question(request),
    )
    transaction.run(
        "UPDATE approvals SET rule_id = :rule_id WHERE id = :id", rule_id=rule_id, id=approval.id
    )
    transaction.announce("rule", rule_id)
    return rule_id


def _find(transaction: Transaction, request: ApprovalRequest) -> StandingRule | None:
    # One person's word can neither stand for several nor become the default of a gate that has one.
    if request.default == "allow" or request.requirement.persons > 1:
        return None
    candidates = transaction.run(
        _CANDIDATES,
        hook=request.hook,
        event=request.event,
        tool_name=request.tool_name,
        working_dir=request.working_dir,
        machine=request.machine,
        required_scope=request.requirement.scope,
        digest=request.digest,
        requester=request.requester,
    )
    for rule in map(_read, candidates):
        if _may_speak(rule, request) and covers(rule, request):
            used = transaction.run(_USE, id=rule.id)
            if used:
                transaction.announce("rule", rule.id)
                return _read(used[0])
    return None


def _may_speak(rule: StandingRule, request: ApprovalRequest) -> bool:
    own = identify_person(rule.author) == identify_person(request.requester)
    return request.requirement.requester_may_approve or not own


def _revoke(transaction: Transaction, rule_id: str, by: str) -> StandingRule:
    revoked = transaction.run(_REVOKE, id=rule_id, revoked_by=by)
    if not revoked:
        return _load(transaction, rule_id)
    transaction.announce("rule", rule_id)
    return _read(revoked[0])


def _load(transaction: Transaction, rule_id: str) -> StandingRule:
    found = transaction.run("SELECT * FROM rules WHERE id = :id", id=rule_id)
    if not found:
        raise NotFound(f"There is no standing rule {rule_id!r}")
    return _read(found[0])


def _read(row: Row) -> StandingRule:
    return read_row(StandingRule, row)
