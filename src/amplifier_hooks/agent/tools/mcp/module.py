"""Mounting tool-mcp: the servers of a bundle, and the tools that each brings."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError, ModuleLoadError
from amplifier_core.events import APPROVAL_GRANTED, SESSION_START
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult, Level
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.tools.mcp.client import (
    Client,
    NotificationHandlers,
    ServerError,
    StderrTail,
    connect,
    open_http,
    open_pipes,
)
from amplifier_hooks.agent.tools.mcp.connection import (
    Connect,
    Connection,
    SharedConnections,
    Unavailable,
    find_shared_connections,
)
from amplifier_hooks.agent.tools.mcp.launch import (
    NAME,
    Config,
    Secrets,
    ServerConfig,
    check_files,
    check_values,
    digest_own_files,
    find_literals,
    identify_server,
    prepare_launch,
)
from amplifier_hooks.agent.tools.mcp.tools import (
    EXTRA_TOOLS,
    Caller,
    McpTool,
    Withheld,
    find_extra_tools,
    judge_list,
    make_extra_tools,
)
from amplifier_hooks.agent.tools.roots import get_working_dir
from amplifier_hooks.guards.mcp.definitions import Definition, DefinitionGuard, digest_definition
from amplifier_hooks.guards.mcp.path_guard import register_path_guard
from amplifier_hooks.guards.mcp.protocol import name_tool
from amplifier_hooks.guards.policy.protected_places import get_places
from amplifier_hooks.machine.background import BackgroundTasks
from amplifier_hooks.modules.installation import require
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import is_own_event

logger = logging.getLogger(__name__)

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
}
"""What a server logs at these levels goes to the log; what is worse is shown."""
_MOST_SHOWN = 20
_LONGEST = 500
_AFTER_GUARD = 1_000


class ServerTools:
    """Mounts what a server offers, and remembers what of it is ours."""

    def __init__(
        self, host: Host, connection: Connection, guard: DefinitionGuard, config: ServerConfig
    ) -> None:
        self._host = host
        self._connection = connection
        self._guard = guard
        self._config = config
        self._caller = Caller(host, connection, config.timeout)
        self._tools: dict[str, McpTool] = {}
        self._extra: dict[str, Any] = {}
        self._listed: list[Definition] = []
        self._kinds: list[str] = []
        self._is_judging = False
        self._is_closed = False
        self._is_due = False
        self._changing = asyncio.Lock()
        self._work = BackgroundTasks(NAME)
        self._shown = 0
        self.server = connection.name

    # Life

    async def open(self) -> None:
        """Start the server if nobody has, and mount its tools; no hook has judged them yet."""
        self._guard.register()
        self._host.hooks.register(
            APPROVAL_GRANTED, self._on_approval_granted, _AFTER_GUARD, f"{NAME}:{self.server}"
        )
        self._connection.add_listener(self)
        await self._connection.start()
        problem = self._connection.problem
        if problem is not None:
            if self._connection.is_abandoned:
                later = ""
            else:
                later = "\nIt is tried again in the background."
            self.notify(
                f"The MCP server {self.server!r} has not started: {problem}{later}", "error"
            )
        else:
            await self.refresh()

    async def judge(self) -> None:
        """All hooks are there: have them judge what was listed, and everything from now on."""
        self._is_judging = True
        if self._listed or self._kinds:
            await self._show_again()

    async def close(self) -> None:
        """Take the tools away; whoever else uses the server keeps it."""
        self._is_closed = True
        self._connection.remove_listener(self)
        await self._work.close()
        async with self._changing:
            await self._withhold_all()

    # What the connection tells

    def notify(self, text: str, level: Level) -> None:
        """Show something to the person; a sub-agent's has been shown for its parent."""
        text = self._connection.hide(text)
        if self._host.parent_id is None:
            self._work.start(self._host.show(text, level, NAME))
        else:
            logger.info("%s", text)

    def refresh_later(self) -> None:
        """Look at the tools again, in the background; once, however often it is wanted."""
        if not self._is_closed and not self._is_due:
            self._is_due = True
            self._work.start(self.refresh())

    def log_message(self, level: str, text: str) -> None:
        """A line that the server has logged."""
        line = self._connection.hide(f"MCP server {self.server!r}, {level}: {text[:_LONGEST]}")
        if level in _LEVELS or self._shown >= _MOST_SHOWN:
            logger.log(_LEVELS.get(level, logging.WARNING), "%s", line)
        else:
            self._shown += 1
            self.notify(line, "warning")

    def _on_approval_granted(self, event: str, data: dict[str, Any]) -> HookResult:
        """A person has allowed a definition: models see it from now on, if hooks let them."""
        if data.get("hook") == self._guard.name and not self._is_closed:
            self._work.start(self._show_again())
        return HookResult(action="continue")

    async def _show_again(self) -> None:
        async with self._changing:
            await self._attempt(self._mount_all)

    # Listing

    async def refresh(self) -> None:
        """List the tools anew, and mount and unmount accordingly."""
        async with self._changing:
            self._is_due = False
            await self._attempt(self._list_and_mount)

    async def _attempt(self, change: Callable[[], Any]) -> None:
        """What cannot be listed or judged is not offered to a model."""
        try:
            await change()
        except Withheld as reason:
            await self._withhold_all()
            self.notify(
                f"The tools of the MCP server {self.server!r} are withheld: {reason}", "warning"
            )
        except Unavailable:
            return  # which has been told; calls say so, too
        except (ServerError, AmplifierError) as error:
            await self._withhold_all()
            why = str(error)
            self.notify(
                f"The tools of the MCP server {self.server!r} cannot be used: {why}", "error"
            )
        except Exception as error:
            await self._withhold_all()
            logger.exception("The tools of the MCP server %s cannot be used", self.server)
            why = describe_error(error)
            self.notify(
                f"The tools of the MCP server {self.server!r} cannot be used: {why}", "error"
            )

    async def _list_and_mount(self) -> None:
        client = await self._connection.acquire()
        limit = self._config.start_timeout
        try:
            async with asyncio.timeout(limit):
                found = await client.list("tools/list") if client.offers("tools") else []
                self._kinds = await find_extra_tools(client)
        except TimeoutError:
            raise ServerError(f"they were not listed within {limit:g} seconds") from None
        self._listed = self._select_tools(found)
        await self._mount_all()

    async def _mount_all(self) -> None:
        await self._mount_listed()
        await self._mount_extra()

    def _select_tools(self, found: list[Definition]) -> list[Definition]:
        """The tools that are wanted, each once; a name that is taken does not come again."""
        chosen: dict[str, Definition] = {}
        for tool in found:
            name = str(tool.get("name"))
            ours = name_tool(self.server, name)
            if not self._config.wants(name):
                continue
            if ours in chosen:
                self.notify(
                    f"The MCP server {self.server!r} has two tools that would both be {ours}; "
                    f"the second one, {name!r}, is left out.",
                    "warning",
                )
                continue
            chosen[ours] = tool
        names = [*(str(one.get("name")) for one in found), *EXTRA_TOOLS]
        if unmet := self._config.list_unmet(names):
            missing = ", ".join(unmet)
            self.notify(
                f"The MCP server {self.server!r} has no tool {missing} (`tools`).", "warning"
            )
        return list(chosen.values())

    async def _mount_listed(self) -> None:
        """Show models what people allowed and hooks leave of the tools."""
        shown = await self._guard.review(self._listed)
        if self._is_judging:
            shown = await judge_list(self._host, self.server, "tools/list", shown)
        by_name = {str(one.get("name")): one for one in shown}
        wanted = [one for one in self._listed if one.get("name") in by_name]
        for tool in wanted:
            await self._mount(tool, by_name[str(tool["name"])])
        names = {name_tool(self.server, str(one["name"])) for one in wanted}
        for name in [one for one in self._tools if one not in names]:
            await self._unmount(self._tools, name)

    async def _mount(self, tool: Definition, shown: Definition) -> None:
        name = name_tool(self.server, str(tool["name"]))
        found = digest_definition(tool)
        before = self._tools.get(name)
        if before is not None and before.digest == found:
            before.show(shown)
            return
        fresh = McpTool(name, str(tool["name"]), found, self._caller)
        fresh.show(shown)
        if self._may_mount(name, before):
            self._tools[name] = fresh
            await self._host.mount("tools", fresh, name=name)

    def _may_mount(self, name: str, before: McpTool | None) -> bool:
        """Whether the name is free, and nobody has taken tools of ours away.

        A sub-agent has only those that it is allowed. Nothing of another module is replaced.
        """
        mounted = self._host.get("tools")
        if before is not None:
            return mounted.get(name) is before
        if name in mounted:
            if self._is_judging:  # before, the module may be about to follow itself in a reload
                self.notify(
                    f"{name} is there already; that of {self.server!r} is left out.", "error"
                )
            return False
        ours = [*self._tools.values(), *self._extra.values()]
        return all(mounted.get(one.name) is one for one in ours)

    async def _mount_extra(self) -> None:
        taken = self._tools.keys()
        made = make_extra_tools(self._host, self.server, self._kinds, self._caller, taken)
        offered = {tool.name: tool for tool in made if self._config.wants(tool.kind)}
        self._guard.accept(offered)
        for name in [one for one in self._extra if one not in offered]:
            await self._unmount(self._extra, name)
        for name, tool in offered.items():
            if name not in self._extra and self._may_mount(name, None):
                self._extra[name] = tool
                await self._host.mount("tools", tool, name=name)

    async def _withhold_all(self) -> None:
        for kept in (self._tools, self._extra):
            for name in list(kept):
                await self._unmount(kept, name)

    async def _unmount(self, kept: dict[str, Any], name: str) -> None:
        tool = kept.pop(name)
        if self._host.get("tools", name) is tool:
            await self._host.unmount("tools", name)


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

    connection = shared.get_or_open(key, make)
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
