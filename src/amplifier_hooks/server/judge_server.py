"""The server of `amplifier judge`: nothing but judgements, for programs of one person's machine.

It listens on loopback or on a Unix socket. Its token lies in a file that only that person can read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI

from amplifier_hooks.approvals.models import JUDGE, Identity, Login
from amplifier_hooks.http_guard import App, Door, bracket, list_own_hosts
from amplifier_hooks.http_guard.server import BACKLOG, CannotListen, GuardedConfig
from amplifier_hooks.http_guard.server import bind as bind_address
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.http import is_loopback
from amplifier_hooks.machine.locations import find_data_home, get_user_name
from amplifier_hooks.machine.open_files import raise_file_limit
from amplifier_hooks.server.app import refuse_unknown_parameters
from amplifier_hooks.server.description import complete_description
from amplifier_hooks.server.encoding import ERRORS, add_error_handlers
from amplifier_hooks.server.guard import API, MAX_BODY, Guard, RequestLog
from amplifier_hooks.server.judging.host import JudgeHost
from amplifier_hooks.server.routes import health, judging
from amplifier_hooks.server.server import GRACE_SECONDS, Server
from amplifier_hooks.server.settings import JudgeSettings, ServeError

PORT = 8412
_METHODS = ("GET", "HEAD", "POST")
_MOST_CONNECTIONS = 2000
_SPARE_FILES = 500


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """What `amplifier judge` was told."""

    host: str = "127.0.0.1"
    port: int = PORT
    path: Path | None = None
    """Of a Unix socket, instead of an address."""
    judge: JudgeSettings = field(default_factory=JudgeSettings)

    @property
    def address(self) -> str:
        """What programs are told."""
        if self.path is not None:
            return str(self.path)
        return f"http://{bracket(self.host)}:{self.port}"


def find_token_file() -> Path:
    """Where this person's token is."""
    return find_data_home() / "amplifier" / "judge" / "token"


def read_token(path: Path) -> str:
    """The token, made if there is none; ServeError if others could know it."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        token = secrets.token_urlsafe(32)
        replace_file(path, f"{token}\n".encode(), mode=0o600)
        return token
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        raise ServeError(
            f"{path} has the token of this judge and must be a file that only you can read; remove "
            "it, and a new one is made"
        )
    token = path.read_text(encoding="ascii", errors="replace").strip()
    if len(token) < 32 or not token.isascii():
        raise ServeError(f"{path} holds no token; remove it, and a new one is made")
    return token


class OneToken:
    """Knows one credential: whoever has it may have events judged, and nothing else."""

    def __init__(self, token: str, name: str) -> None:
        self._token = token.encode()
        self._identity = Identity(name, frozenset({JUDGE}))

    async def identify_token(self, text: str) -> Identity | None:
        """Whose bearer token it is."""
        return self._identity if compare_digest(text.encode(), self._token) else None

    async def identify_login(self, cookie: str) -> Login | None:
        """Nobody logs in here."""
        return None


def create_judge_app(settings: ListenSettings, token: str) -> FastAPI:
    """The routes of judging, for any ASGI server."""
    judge = JudgeHost(settings.judge)

    @asynccontextmanager
    async def run_beside(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await judge.close()

    app = FastAPI(
        title="Amplifier judge",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}openapi.json",
        redirect_slashes=False,
        lifespan=run_beside,
    )
    complete_description(app)
    app.state.judge = judge
    add_error_handlers(app)
    api = APIRouter(prefix=API.rstrip("/"), responses=ERRORS)
    api.include_router(health.alive)
    api.include_router(judging.router, dependencies=[Depends(refuse_unknown_parameters)])
    app.router.routes.extend(api.routes)
    host, port = ("127.0.0.1", 80) if settings.path else (settings.host, settings.port)
    door = Door(hosts=list_own_hosts(host, port), methods=_METHODS, body_limit=MAX_BODY)

    def guard(inner: App) -> App:
        return RequestLog(Guard(inner, door, OneToken(token, get_user_name())))

    app.add_middleware(guard)
    return app


def check_settings(settings: ListenSettings) -> None:
    """ServeError for an address that other machines can reach: the token would travel in clear."""
    if settings.path is None and not is_loopback(settings.host):
        raise ServeError(
            f"{settings.host or 'Every interface'} can be reached from other machines, and "
            "amplifier judge is for this one; for others, run amplifier serve with TLS and make a "
            "token with: amplifier tokens add NAME --scope judge"
        )


def bind(settings: ListenSettings) -> socket.socket:
    """A socket that listens where the settings say."""
    if settings.path is not None:
        return _bind_path(settings.path)
    try:
        return bind_address(settings.host, settings.port, advice="choose one with --port")
    except CannotListen as error:
        raise ServeError(str(error)) from error


def _bind_path(path: Path) -> socket.socket:
    """A Unix socket that only its owner can connect to."""
    listening = socket.socket(socket.AF_UNIX)
    try:
        _remove_stale(path)
        before = os.umask(0o177)
        try:
            listening.bind(str(path))
        finally:
            os.umask(before)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise ServeError(f"Cannot listen at {path}: {error.strerror or error}") from error
    except ServeError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def _remove_stale(path: Path) -> None:
    """Remove a socket at which nobody listens any more; ServeError for anything else there."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise ServeError(f"{path} is there already, and is no socket; name another path")
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
                return
        raise ServeError(f"Somebody listens at {path} already; name another path")


def create_server(app: FastAPI) -> Server:
    """The server for an app; `serve(sockets=[…])` runs it."""
    config = GuardedConfig(
        app,
        most_connections=_MOST_CONNECTIONS,
        lifespan="on",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    config.load()
    return Server(config, app.state.judge.send_away)


async def serve_judge(
    settings: ListenSettings, token: str, ready: Callable[[ListenSettings], None]
) -> None:
    """Judge until SIGINT or SIGTERM; `ready` is called once programs can connect."""
    check_settings(settings)
    listening = bind(settings)
    with contextlib.closing(listening):
        if settings.path is None:
            settings = replace(settings, port=listening.getsockname()[1])
        raise_file_limit(_MOST_CONNECTIONS + _SPARE_FILES)
        server = create_server(create_judge_app(settings, token))
        try:
            announcing = asyncio.create_task(_announce(server, settings, ready))
            await server.serve(sockets=[listening])
            announcing.cancel()
        finally:
            if settings.path is not None:
                settings.path.unlink(missing_ok=True)


async def _announce(
    server: Server, settings: ListenSettings, ready: Callable[[ListenSettings], None]
) -> None:
    await server.is_up.wait()
    ready(settings)
