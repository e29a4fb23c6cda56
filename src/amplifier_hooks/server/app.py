"""The app: the guard around the routes, and the work that goes on beside the requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.http_guard import App, Door
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.description import complete_description
from amplifier_hooks.server.encoding import ERRORS, add_error_handlers
from amplifier_hooks.server.guard import API, MAX_BODY, METHODS, Guard, RequestLog
from amplifier_hooks.server.hosting import HostSettings, SessionHost
from amplifier_hooks.server.judging.host import JudgeHost
from amplifier_hooks.server.live.feed import ChangeFeed, StoreWatch
from amplifier_hooks.server.live.hub import Hub
from amplifier_hooks.server.live.socket import LiveSocket
from amplifier_hooks.server.routes import (
    access,
    agents,
    approvals,
    health,
    hosting,
    judging,
    page,
    sessions,
    statistics,
    witness,
)
from amplifier_hooks.server.services import Services
from amplifier_hooks.server.settings import JudgeSettings, ServerSettings, list_hosts, list_origins

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store

logger = logging.getLogger(__name__)


async def refuse_unknown_parameters(request: Request) -> None:
    """A dependency: `?stattus=pending` would list everything."""
    route = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute):
        return
    known = tuple(_list_aliases(route.dependant))
    for name in request.query_params:
        if name not in known:
            raise HTTPException(422, _describe(name[:100], known))


def _list_aliases(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _list_aliases(inner)


def _describe(name: str, known: tuple[str, ...]) -> str:
    if not known:
        return f"{name!r} is no parameter; there are none here"
    near = get_close_matches(name, known, n=1)
    if near:
        return f"{name!r} is no parameter; did you mean {near[0]!r}?"
    return f"{name!r} is no parameter; there are: {', '.join(sorted(known))}"


# What is asked for most comes first: routes are tried one after another.
_ROUTERS = (
    agents.router,
    approvals.router,
    access.login_router,
    approvals.rules_router,
    sessions.router,
    hosting.router,
    judging.router,
    statistics.router,
    access.tokens_router,
    witness.router,
)


def create_app(store: Store, settings: ServerSettings) -> FastAPI:
    """The whole server, for any ASGI server; the store stays the caller's to close."""
    feed = ChangeFeed(store.engine)
    hub = Hub(store, feed, settings.max_sockets)
    watch = StoreWatch(store.engine, hub.tell_store)
    host = SessionHost(store, HostSettings(settings.bundle, settings.folder or Path.cwd()))
    folder = settings.folder or Path.cwd()
    judge = JudgeHost(JudgeSettings(settings.bundle, folder), store)
    services = Services(store, settings, feed, hub, watch, host, judge)
    app = FastAPI(
        title="Amplifier approvals",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}openapi.json",
        redirect_slashes=False,
        lifespan=_run_beside,
    )
    complete_description(app)
    app.state.services = services
    app.state.judge = judge
    add_error_handlers(app)
    app.router.routes.extend(_collect_routes().routes)
    door = Door(
        hosts=list_hosts(settings),
        origins=list_origins(settings),
        methods=METHODS,
        body_limit=MAX_BODY,
    )

    def guard(inner: App) -> App:
        return RequestLog(
            Guard(
                inner,
                door,
                store.access,
                uses_tls=settings.uses_tls,
                behind_proxy=settings.behind_proxy,
                store_is_lost=lambda: watch.is_lost,
            )
        )

    app.add_middleware(guard)
    return app


@cache
def _collect_routes() -> APIRouter:
    """All routes, in the order in which they are tried; making them takes longer than the rest."""
    api = APIRouter(prefix=API.rstrip("/"), responses=ERRORS)
    api.include_router(health.alive)  # whatever a load balancer adds to the address
    api.include_router(health.router)
    for router in _ROUTERS:
        api.include_router(router, dependencies=[Depends(refuse_unknown_parameters)])
    # Plain Starlette: what FastAPI adds to a route would be kept for as long as a socket is open.
    api.routes.append(WebSocketRoute(f"{API}live", serve_socket))
    everything = APIRouter()
    # Where Prometheus looks by itself.
    everything.include_router(statistics.metrics, responses=ERRORS)
    everything.routes.extend([*api.routes, *page.router.routes])
    return everything


async def serve_socket(websocket: WebSocket) -> None:
    """The WebSocket for live updates; the guard let only people with a credential come here."""
    caller = websocket.scope.get("state", {}).get("caller")
    services: Services = websocket.app.state.services
    if not isinstance(caller, Caller) or not caller.may("read"):
        await websocket.close(1008, "This needs a credential with the scope 'read'.")
        return
    await LiveSocket(websocket, services.store, services.hub, caller).run()


@asynccontextmanager
async def _run_beside(app: FastAPI) -> AsyncIterator[None]:
    """Listen, tell and sweep for as long as the app runs."""
    services: Services = app.state.services
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(keep_running(work))
        for work in (
            services.feed.run,
            services.hub.run,
            services.watch.run,
            partial(sweep_forever, services.store),
        )
    ]
    if services.settings.keep_days is not None:
        retain = partial(retain_forever, services.store, services.settings.keep_days)
        tasks.append(asyncio.create_task(keep_running(retain)))
    try:
        await services.feed.listening.wait()
        tasks.append(asyncio.create_task(keep_running(services.host.run)))
        yield
    finally:
        services.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(services.host.close(), services.judge.close())


SWEEP_SECONDS = 1.0
RETAIN_SECONDS = 3600.0
RESTART_SECONDS = 1.0
SESSION_SECONDS = 90.0
"""After how long a session that reports nothing is taken for lost."""


async def sweep(store: Store) -> None:
    """Expire what is overdue, and mark what was lost; several servers may do so at once."""
    await store.approvals.expire_overdue()
    await store.approvals.mark_lost()
    await store.sessions.mark_lost(SESSION_SECONDS)


async def sweep_forever(store: Store, seconds: float = SWEEP_SECONDS) -> None:
    """Sweep every second; a store that does not answer is tried again."""
    failing = False
    while True:
        try:
            await sweep(store)
            if failing:
                logger.warning("sweeping succeeds again")
            failing = False
        except StoreError as error:
            if not failing:
                logger.warning("sweeping failed, and is tried again and again: %s", error)
            failing = True
        await asyncio.sleep(seconds)


async def retain_forever(store: Store, days: int, seconds: float = RETAIN_SECONDS) -> None:
    """Remove what ended longer ago than that, every hour."""
    while True:
        try:
            sessions = await store.sessions.remove_older(days * 86_400.0)
            approvals = await store.approvals.remove_older(days * 86_400.0)
            figures = await store.statistics.remove_older(days * 86_400.0)
            if sessions or approvals or figures:
                logger.info(
                    "removed %d sessions, %d approvals and %d figures of hours",
                    *(sessions, approvals, figures),
                )
        except StoreError as error:
            logger.warning("what is old could not be removed: %s", error)
        await asyncio.sleep(seconds)


async def keep_running(
    work: Callable[[], Awaitable[None]], pause: float = RESTART_SECONDS
) -> NoReturn:
    """Run something until cancelled; after a failure, which is logged, again."""
    while True:
        try:
            await work()
        except Exception:  # a server that no longer tells anybody anything would look healthy
            logger.exception("work beside the requests failed; it is started again")
        await asyncio.sleep(pause)
