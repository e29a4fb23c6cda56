"""Mounting tool-mcp: the servers of a bundle, started side by side."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import SESSION_START
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.agent.tools.mcp.client import (
    Client,
    NotificationHandlers,
    ServerError,
    StderrTail,
    connect,
    open_http,
    open_pipes,
)
from amplifier_hooks.agent.tools.mcp.config import NAME, Config, ServerConfig
from amplifier_hooks.agent.tools.mcp.connection import (
    Connect,
    Connection,
    SharedConnections,
    find_shared_connections,
)
from amplifier_hooks.agent.tools.mcp.launch import (
    check_files,
    digest_own_files,
    identify_server,
    prepare_launch,
)
from amplifier_hooks.agent.tools.mcp.secrets import Secrets, check_values, find_literals
from amplifier_hooks.agent.tools.mcp.server_tools import ServerTools
from amplifier_hooks.agent.tools.roots import get_working_dir
from amplifier_hooks.guards.mcp.definition_guard import DefinitionGuard
from amplifier_hooks.guards.mcp.path_guard import register_path_guard
from amplifier_hooks.guards.policy.protected_places import get_places
from amplifier_hooks.modules.installation import require
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import is_own_event

CAPABILITY = "mcp.servers"
"""The servers of a session, for `on_session_ready`."""


_CONNECTING = {"command", "args", "env", "url", "headers", "start_timeout", "restart"}
"""Options that make another connection; the others are for whoever uses it."""


@dataclass(frozen=True, slots=True)
class _Mounted:
    """One server of one module."""

    tools: ServerTools
    connection: Connection
    required: bool
    key: str
    forget: Callable[[], None]
    """Ends the hiding of its secrets."""


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Start the servers and mount their tools; one that does not start is told of."""
    options = await parse_known(coordinator, Config, config, NAME)
    for name, server in options.servers.items():
        await _check_secrets(coordinator, name, server)
    if options.servers:
        require("mcp", NAME, "mcp")
        register_path_guard(coordinator, get_working_dir(coordinator), _list_guarded(coordinator))
    shared = find_shared_connections(coordinator)
    mounted = [_use_server(coordinator, shared, name, one) for name, one in options.servers.items()]
    known: list[ServerTools] = coordinator.get_capability(CAPABILITY) or []
    coordinator.register_capability(CAPABILITY, known)
    known += [one.tools for one in mounted]

    async def cleanup() -> None:
        await asyncio.gather(*(_release_server(one, shared, known) for one in mounted))
        mounted.clear()

    try:
        await asyncio.gather(*(one.tools.open() for one in mounted))
        _require_started(coordinator, mounted)
    except BaseException:
        await asyncio.shield(cleanup())
        raise
    return cleanup


def _list_guarded(host: Host) -> list[Path]:
    """The places that no tool of the session writes to."""
    places = get_places(host)
    return [] if places is None else [*places.hidden, *places.sealed]


async def on_session_ready(coordinator: Host) -> None:
    """Every hook is mounted: they judge what the servers say of their tools."""
    for one in list(coordinator.get_capability(CAPABILITY) or ()):
        await one.judge()


async def _check_secrets(host: Host, name: str, server: ServerConfig) -> None:
    for option, input in (("env", server.env), ("headers", server.headers)):
        place = f"servers.{name}.{option}"
        try:
            check_values(input, place)
        except ModuleLoadError as error:
            raise ModuleLoadError(f"{NAME}: {error}") from error
        # What is said of a sub-agent's module has been said of its parent's.
        for one in find_literals(input) if host.parent_id is None else ():
            await host.show(
                f"'{place}.{one}' looks like a secret that stands in the bundle. "
                "Name where it is instead: {env: NAME} or {file: PATH}",
                "warning",
                NAME,
            )


def _use_server(host: Host, shared: SharedConnections, name: str, server: ServerConfig) -> _Mounted:
    base = get_working_dir(host)
    cwd = get_working_dir(host, server.cwd)
    files = digest_own_files(server, cwd)
    same = server.model_dump(mode="json", include=_CONNECTING)
    key = json.dumps([name, same, str(cwd), files], sort_keys=True)

    def check() -> None:
        snapshot = host.get_capability("session.snapshot")
        check_files(server, cwd, getattr(snapshot, "files", {}))

    def make() -> Connection:
        secrets = Secrets()
        secrets.add_literals({**server.env, **server.headers})
        opener = _make_connect(name, server, secrets, (base, cwd), check)
        return Connection(name, server, opener, secrets.hide)

    connection = shared.take(key, make)
    identity = identify_server(server, cwd)
    guard = DefinitionGuard(host, name, identity, new_tools=server.new_tools)
    tools = ServerTools(host, connection, guard, server)
    required = server.required
    return _Mounted(tools, connection, required, key, host.register_scrubber(connection.hide))


async def _release_server(
    one: _Mounted, shared: SharedConnections, known: list[ServerTools]
) -> None:
    if one.tools in known:
        known.remove(one.tools)
    try:
        await one.tools.close()
    finally:
        await shared.release(one.key)
        one.forget()


def _make_connect(
    name: str,
    server: ServerConfig,
    secrets: Secrets,
    folders: tuple[Path, Path],
    check: Callable[[], None],
) -> Connect:
    base, cwd = folders

    @asynccontextmanager
    async def open_one(handlers: NotificationHandlers) -> AsyncIterator[Client]:
        ended = asyncio.Event()
        if server.url is not None:
            headers = secrets.resolve(server.headers, f"servers.{name}.headers", base)
            async with connect(open_http(server.url, headers, ended), ended, handlers) as client:
                yield client
            return
        check()
        env = secrets.resolve(server.env, f"servers.{name}.env", base)
        launch = prepare_launch(server, env, cwd)
        with closing(StderrTail(name)) as stderr:
            async with AsyncExitStack() as stack:
                pipes = open_pipes(launch, stderr, ended)
                opening = connect(pipes, ended, handlers, stderr.describe)
                try:
                    client = await stack.enter_async_context(opening)
                except Exception as error:
                    said = stderr.describe()
                    raise ServerError(said) if said else error from error
                yield client

    return open_one


def _require_started(host: Host, mounted: list[_Mounted]) -> None:
    """Have the session not start without a server that it requires."""
    missing = [one for one in mounted if one.required and one.connection.problem]
    if not missing:
        return
    told = (f"{one.tools.server} ({one.connection.problem})" for one in missing)
    names = ", ".join(one.connection.hide(text) for one, text in zip(missing, told, strict=True))

    def refuse(event: str, data: dict[str, Any]) -> HookResult:
        if not is_own_event(host, data):
            return HookResult(action="continue")
        return HookResult(action="deny", reason=f"required MCP servers did not start: {names}")

    host.hooks.register(SESSION_START, refuse, name=NAME, on_error="deny")
