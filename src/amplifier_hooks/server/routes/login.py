"""Logging in with a one-time code, and out."""

from __future__ import annotations

from time import time

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from amplifier_hooks.server.callers import COOKIE
from amplifier_hooks.server.services import Anybody, Shared
from amplifier_hooks.server.wire.access_answers import Done, Me
from amplifier_hooks.server.wire.bodies import LoginBody
from amplifier_hooks.server.wire.encoding import answer

router = APIRouter(tags=["login"])


@router.post("/login", responses={200: {"model": Me}})
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


@router.post("/logout", responses={200: {"model": Done}})
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


@router.get("/me", responses={200: {"model": Me}})
async def get_me(caller: Anybody) -> Response:
    """Who is logged in. The token for `X-Amplifier-CSRF` is only in the answer to the login."""
    return answer({"name": caller.name, "scopes": caller.identity.scopes, "csrf": ""})
