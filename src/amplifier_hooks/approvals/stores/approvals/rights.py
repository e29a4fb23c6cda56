"""Who may decide what. A pure rule over scopes: no word about it comes from a message."""

from __future__ import annotations

from fnmatch import fnmatchcase

from amplifier_hooks.approvals.stores.checks.people import identify_person
from amplifier_hooks.approvals.stores.errors import NotAllowed
from amplifier_hooks.approvals.stores.values.access import AGENT, DECIDE
from amplifier_hooks.approvals.stores.values.approval import ApprovalRequest, Decider

_HOOK = f"{DECIDE}:hook="
_TOOL = f"{DECIDE}:tool="


def refuse_bystander(decider: Decider) -> None:
    """Raise NotAllowed for who can decide nothing at all, before they learn what there is."""
    if not decider.name.strip():
        raise NotAllowed("Nobody is named as the one who decides")
    if AGENT in decider.scopes:
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
