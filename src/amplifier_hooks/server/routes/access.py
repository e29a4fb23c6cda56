"""Logging in with a one-time code, and out; tokens and codes, for administrators."""

from __future__ import annotations

from time import time

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from amplifier_hooks.approvals.models import Token
from amplifier_hooks.server.answers import Done, Me, NewCode, NewToken, TokenList
from amplifier_hooks.server.bodies import CodeBody, Id, LoginBody, TokenBody
from amplifier_hooks.server.callers import COOKIE
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.services import Admin, Anybody, Shared

login_router = APIRouter(tags=["login"])


@login_router.post("/login", responses={200: {"model": Me}})
async def log_in(body: LoginBody, services: Shared) -> Response:
    """Exchange a one-time code for a cookie, and for what to send as `X-Amplifier-CSRF` with it.

    A code works once.
    """
    exchanged = await services.store.access.exchange_code(body.code)
    if exchanged is None:
        raise HTTPException(401, "This code is not valid: it was used, has expired, or is wrong.")
    cookie, login = exchanged
    identity = login.identity
    found = answer({"name": identity.name, "scopes": identity.scopes, "csrf": login.csrf})
    found.set_cookie(
        COOKIE,
        cookie,
        httponly=True,
        samesite="strict",
        secure=services.settings.uses_tls,
        path="/",
        max_age=max(0, int(login.expires - time())),  # an installed page is closed and opened again
    )
    return found


@login_router.post("/logout", responses={200: {"model": Done}})
async def log_out(caller: Anybody, request: Request, services: Shared) -> Response:
    """End this login."""
    if caller.via == "web":
        await services.store.access.end_login(caller.secret)
        services.hub.check_soon()
    found = answer({"status": "done"})
    found.delete_cookie(
        COOKIE, httponly=True, samesite="strict", secure=services.settings.uses_tls, path="/"
    )
    return found


@login_router.get("/me", responses={200: {"model": Me}})
async def get_me(caller: Anybody) -> Response:
    """Who is logged in. The token for `X-Amplifier-CSRF` is only in the answer to the login."""
    return answer({"name": caller.name, "scopes": caller.identity.scopes, "csrf": ""})


tokens_router = APIRouter(tags=["access"])


@tokens_router.get("/tokens", responses={200: {"model": TokenList}})
async def list_tokens(_: Admin, services: Shared) -> Response:
    """All tokens; never their text."""
    return answer({"tokens": await services.store.access.list_tokens()})


@tokens_router.post("/tokens", status_code=201, responses={201: {"model": NewToken}})
async def add_token(body: TokenBody, _: Admin, services: Shared) -> Response:
    """Make a token. Its text is in this answer and nowhere else."""
    access = services.store.access
    text, token = await access.add_token(body.name, frozenset(body.scopes), body.seconds)
    return answer({"text": text, "token": token}, 201)


@tokens_router.post("/tokens/{id}/revocation", responses={200: {"model": Token}})
async def revoke_token(_: Admin, services: Shared, id: Id) -> Response:
    """Take a token back; its connections are closed."""
    token = await services.store.access.revoke_token(id)
    services.hub.check_soon()
    return answer(token)


@tokens_router.post("/codes", status_code=201, responses={201: {"model": NewCode}})
async def add_code(body: CodeBody, _: Admin, services: Shared) -> Response:
    """Make a one-time code, for somebody else's browser."""
    code = await services.store.access.add_code(
        body.name, frozenset(body.scopes), seconds=body.seconds
    )
    return answer({"code": code}, 201)
