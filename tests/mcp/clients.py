"""The SDK's client before a server, alone or with the gateway between them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from tests.mcp.servers import Server
from tests.support.mcp.world import World


def start_alone(world: World, server: Server) -> StdioServerParameters:
    """The server, without us."""
    command = server.build(world)
    return StdioServerParameters(
        command=command[0], args=command[1:], env=world.env, cwd=world.project
    )


def start_guarded(world: World, server: Server, *options: str) -> StdioServerParameters:
    """The server, behind the gateway."""
    command = world.build_command(*server.build(world), options=("--name", server.name, *options))
    return StdioServerParameters(
        command=command[0], args=command[1:], env=world.env, cwd=world.project
    )


@asynccontextmanager
async def connect(world: World, server: Server, mode: str, **options: Any) -> AsyncIterator[Client]:
    """A client of the server, through the gateway."""
    async with Client(start_guarded(world, server), mode=mode, **options) as client:
        yield client


def read_text(result: CallToolResult) -> str:
    """What a tool's result says."""
    return "\n".join(getattr(block, "text", "") for block in result.content)
