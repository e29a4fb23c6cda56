"""Tokens and one-time codes, for administrators."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from amplifier_hooks.approvals.models import Token
from amplifier_hooks.server.services import Admin, Shared
from amplifier_hooks.server.wire.access_answers import NewCode, NewToken, TokenList
from amplifier_hooks.server.wire.bodies import CodeBody, TokenBody
from amplifier_hooks.server.wire.encoding import answer
from amplifier_hooks.server.wire.text import Id

router = APIRouter(tags=["access"])


@router.get("/tokens", responses={200: {"model": TokenList}})
async def list_tokens(_: Admin, services: Shared) -> Response:
    """All tokens; never their text."""
    return answer({"tokens": await services.store.access.list_tokens()})


@router.post("/tokens", status_code=201, responses={201: {"model": NewToken}})
async def add_token(body: TokenBody, _: Admin, services: Shared) -> Response:
    """Make a token. Its text is in this answer and nowhere else."""
    access = services.store.access
    text, token = await access.add_token(body.name, frozenset(body.scopes), body.seconds)
    return answer({"text": text, "token": token}, 201)


@router.post("/tokens/{id}/revocation", responses={200: {"model": Token}})
async def revoke_token(_: Admin, services: Shared, id: Id) -> Response:
    """Take a token back; its connections are closed."""
    token = await services.store.access.revoke_token(id)
    services.hub.check_soon()
    return answer(token)


@router.post("/codes", status_code=201, responses={201: {"model": NewCode}})
async def add_code(body: CodeBody, _: Admin, services: Shared) -> Response:
    """Make a one-time code, for somebody else's browser."""
    code = await services.store.access.add_code(
        body.name, frozenset(body.scopes), seconds=body.seconds
    )
    return answer({"code": code}, 201)
