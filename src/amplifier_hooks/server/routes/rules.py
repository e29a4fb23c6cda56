"""Standing rules: what is allowed without asking again."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from amplifier_hooks.approvals.models import StandingRule
from amplifier_hooks.server.services import Person, Reader, Shared
from amplifier_hooks.server.wire.approval_answers import RuleList
from amplifier_hooks.server.wire.encoding import answer
from amplifier_hooks.server.wire.text import Id

router = APIRouter(prefix="/rules", tags=["rules"])


@router.get("", responses={200: {"model": RuleList}})
async def list_rules(_: Reader, services: Shared, ended: bool = False) -> Response:
    """The rules that hold; with `ended`, also those that no longer do."""
    return answer({"rules": await services.store.rules.list(include_ended=ended)})


@router.post("/{id}/revocation", responses={200: {"model": StandingRule}})
async def revoke_rule(caller: Person, services: Shared, id: Id) -> Response:
    """Take a rule back; from then on people are asked again."""
    return answer(await services.store.rules.revoke(id, caller.name))
