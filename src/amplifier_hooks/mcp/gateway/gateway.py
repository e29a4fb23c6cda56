"""The gateway as a program runs it: a session, a client, a server, and the relay between them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from amplifier_core.errors import AmplifierError
from amplifier_core.payloads import EndReason
from amplifier_hooks.agent.bundles import BundleError
from amplifier_hooks.guards.mcp.definitions import DefinitionGuard, NewTools
from amplifier_hooks.guards.mcp.frames import INTERNAL_ERROR, FrameError, read_frames, refuse
from amplifier_hooks.guards.mcp.protocol import identify_address
from amplifier_hooks.mcp.gateway.channel import Channel, ChannelError
from amplifier_hooks.mcp.gateway.judging import (
    GatewaySession,
    Judge,
    Say,
    load_gateway_plan,
    open_gateway_session,
)
from amplifier_hooks.mcp.gateway.relay import End, Relay

_RUNNERS = frozenset({"bunx", "node", "npx", "pipx", "python", "python3", "uv", "uvx"})
_VERBS = frozenset({"run", "exec", "tool", "x"})


def identify_server(url: str | None, command: Sequence[str], folder: Path) -> list[str]:
    """Its address, or its command.

    The folder is a part of it if a word names something in it: `python server.py` is another
    server in another project, and what one says of its tools must not be shown for the other.
    """
    if url:
        return [identify_address(url)]
    words = (one for one in command if one and not PurePath(one).is_absolute())
    is_here = any((folder / one).exists() for one in words)
    return [*command, *([str(folder)] if is_here else [])]


def guess_name(url: str | None, command: Sequence[str]) -> str:
    """The host, or the program that is run: server-files of `npx -y @scope/server-files@2 .`."""
    if url:
        return (urlsplit(url).hostname or "server").replace(".", "-")
    words = [one for one in command if not one.startswith("-")] or list(command)
    while len(words) > 1 and _is_runner(words[0]):
        words = words[1:]
        while len(words) > 1 and words[0] in _VERBS:
            words = words[1:]
    plain = words[0].removeprefix("@").partition("@")[0].rstrip("/")
    return PurePath(plain).stem if plain.endswith((".py", ".js", ".ts")) else PurePath(plain).name


def _is_runner(word: str) -> bool:
    name = PurePath(word).name
    return name in _RUNNERS or name.startswith("python3.")


Connect = Callable[[], Awaitable[Channel]]
"""Reaches the server."""

_PATIENCE = 10.0


class CannotJudge(AmplifierError):
    """No session stands behind the gateway, so nothing is passed on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person who set the gateway up has chosen."""

    name: str
    """Of the server, in the names of its tools."""
    identity: Sequence[str]
    """What the server is: its command, or its address."""
    folder: Path
    bundle: str = ""
    new_tools: NewTools = "allow"


async def run_gateway(client: Channel, connect: Connect, settings: Settings, say: Say) -> End:
    """Relay between a client and a server until one of them goes; returns which it was.

    CannotJudge if there is no session to judge with, ChannelError if there is no server: the
    client is told before.
    """
    connecting: asyncio.Future[Channel] | None = None
    try:
        async with _open_session(settings, say) as session:
            connecting = asyncio.ensure_future(connect())
            server = await asyncio.shield(connecting)
            judge = Judge(session, settings.name, _make_guard(session, settings))
            return await Relay(client, server, judge, say).run()
    except AmplifierError as error:
        await _refuse_client(client, str(error))
        raise
    finally:
        if connecting is not None:
            await _close(connecting)
        await client.close()


async def check_plan(settings: Settings) -> None:
    """CannotJudge if no session could be opened, before any client asks for one."""
    try:
        await asyncio.to_thread(load_gateway_plan, settings.folder, settings.bundle)
    except (AmplifierError, BundleError, OSError) as error:
        raise CannotJudge(str(error)) from error


@contextlib.asynccontextmanager
async def _open_session(settings: Settings, say: Say) -> AsyncIterator[GatewaySession]:
    try:
        session = await open_gateway_session(settings.folder, settings.bundle, say)
    except (AmplifierError, BundleError, OSError) as error:
        raise CannotJudge(str(error)) from error
    reason: EndReason = "error"
    try:
        yield session
        reason = "complete"
    except asyncio.CancelledError:
        reason = "complete"  # a signal: so clients end what they have started
        raise
    finally:
        await session.end(reason)


def _make_guard(session: GatewaySession, settings: Settings) -> DefinitionGuard:
    guard = DefinitionGuard(
        session.coordinator, settings.name, settings.identity, new_tools=settings.new_tools
    )
    guard.register()
    return guard


async def _refuse_client(client: Channel, why: str) -> None:
    """Answer the client's first request with the reason why there will be no other answer."""
    with contextlib.suppress(ChannelError, FrameError, TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while (raw := await client.receive()) is not None:
                for frame in read_frames(raw):
                    if frame.is_request:
                        reason = f"amplifier: {why}"
                        await client.send(refuse(frame.message["id"], INTERNAL_ERROR, reason))
                        return


async def _close(connecting: asyncio.Future[Channel]) -> None:
    """Let go of the server; one that is just being started is waited for, so that none is left."""
    await asyncio.wait({connecting}, timeout=_PATIENCE)
    if not connecting.done():
        connecting.cancel()
    with contextlib.suppress(ChannelError, asyncio.CancelledError):
        await (await connecting).close()
