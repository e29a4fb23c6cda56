"""Shared by the routes: the store, the settings, and the subscribers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, HTTPException
from starlette.requests import HTTPConnection

from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.hosting import SessionHost
from amplifier_hooks.server.judging.host import JudgeHost
from amplifier_hooks.server.live.feed import ChangeFeed, StoreWatch
from amplifier_hooks.server.live.hub import Hub
from amplifier_hooks.server.settings import ServerSettings

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store


@dataclass(frozen=True)
class Services:
    """Everything that a route needs."""

    store: Store
    settings: ServerSettings
    feed: ChangeFeed
    hub: Hub
    watch: StoreWatch
    host: SessionHost
    judge: JudgeHost
    verifying: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    """Verifying reads a whole trail: others wait rather than fill the machine."""

    def close(self) -> None:
        """Send waiting clients away, because the server ends."""
        self.feed.close()
        self.hub.close()
        self.judge.send_away()


# Coroutines, though they wait for nothing: a plain function would be called in another thread.


async def get_services(connection: HTTPConnection) -> Services:
    """The services of the app that a request came to."""
    return cast(Services, connection.app.state.services)


async def get_judge(connection: HTTPConnection) -> JudgeHost:
    """The sessions of programs elsewhere; `amplifier judge` has nothing but these."""
    return cast(JudgeHost, connection.app.state.judge)


async def get_caller(connection: HTTPConnection) -> Caller:
    """Who a request comes from; the guard has put it there."""
    caller = connection.scope.get("state", {}).get("caller")
    if not isinstance(caller, Caller):
        raise HTTPException(401, "Log in, or send a bearer token that is valid.")
    return caller


def require(scope: str) -> Callable[[HTTPConnection], Awaitable[Caller]]:
    """A dependency: the caller, if the credential has this scope."""

    async def check(connection: HTTPConnection) -> Caller:
        caller = await get_caller(connection)
        if not caller.may(scope):
            raise HTTPException(403, f"This needs a credential with the scope {scope!r}.")
        return caller

    return check


Shared = Annotated[Services, Depends(get_services)]
Judge = Annotated[JudgeHost, Depends(get_judge)]
Anybody = Annotated[Caller, Depends(get_caller)]
Reader = Annotated[Caller, Depends(require("read"))]
Person = Annotated[Caller, Depends(require("decide"))]
Agent = Annotated[Caller, Depends(require("agent"))]
Program = Annotated[Caller, Depends(require("judge"))]
Admin = Annotated[Caller, Depends(require("admin"))]
