"""The witness: checkpoints of trails on other machines."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException
from starlette.responses import Response

from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import TrailHead
from amplifier_hooks.server.answers import HeadList, Witnessed
from amplifier_hooks.server.bodies import Id, Name, WitnessBody
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.services import Agent, Anybody, Shared

router = APIRouter(prefix="/witness", tags=["witness"])


def require_verifier(caller: Anybody) -> Caller:
    """Who reads, and who sends: before it sends more, an agent looks how far the witness is."""
    if not (caller.may("read") or caller.may("agent")):
        raise HTTPException(403, "This needs a credential with the scope 'read' or 'agent'.")
    return caller


Verifier = Annotated[Caller, Depends(require_verifier)]


@router.post("", responses={200: {"model": TrailHead}})
async def put_head(body: WitnessBody, caller: Agent, services: Shared) -> Response:
    """Keep a checkpoint; 409 if it contradicts one that was seen before."""
    try:
        proof = [b64decode(one, validate=True) for one in body.proof]
    except (NotBase64, ValueError) as error:
        raise BadRequest(f"proof is a list of base64 texts: {error}") from error
    return answer(await services.store.heads.put(body.note, proof, caller.name))


@router.get("", responses={200: {"model": HeadList}})
async def list_heads(caller: Verifier, services: Shared, name: Name = "") -> Response:
    """The newest checkpoint of each trail, or of each trail of that name; for agents, of theirs."""
    heads = await services.store.heads.list(name)
    return answer({"heads": [one for one in heads if _may_see(caller, one)]})


@router.get("/{log}", responses={200: {"model": Witnessed}})
async def get_head(caller: Verifier, services: Shared, log: Id) -> Response:
    """The newest checkpoint of a trail, and all that were seen."""
    head = await services.store.heads.get(log)
    if not _may_see(caller, head):
        raise NotFound(f"No checkpoint of the trail {log!r} has been seen here")
    return answer({"head": head, "history": await services.store.heads.history(log)})


def _may_see(caller: Caller, head: TrailHead) -> bool:
    return caller.may("read") or head.machine == caller.name
