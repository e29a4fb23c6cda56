"""A relay over lines in memory, judged by hooks that a test registers: no bundle, no files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.testing import TestCoordinator
from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.guards.mcp.definitions import DefinitionGuard, KnownTools
from amplifier_hooks.mcp.gateway.judging import GatewaySession, Judge
from amplifier_hooks.mcp.gateway.relay import Relay
from tests.support.mcp.relaying import Line

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
Answer = Callable[[dict[str, Any]], HookResult] | HookResult


class BareSession:
    """What a gateway needs of a session, around a coordinator for tests."""

    def __init__(self, coordinator: TestCoordinator) -> None:
        self.coordinator = coordinator
        self.ended = ""

    async def check_files(self) -> bool:
        return False

    async def cleanup(self, reason: str) -> None:
        self.ended = reason


class Wire:
    """A client, a server, and the relay between them."""

    def __init__(self, folder: Path, approval: Any = None) -> None:
        context = ExternalContext()
        self.coordinator = TestCoordinator(context=context, approval_system=approval)
        self.bare = BareSession(self.coordinator)
        external = ExternalSession(self.coordinator, context, self.bare.cleanup, program="mcp")
        self.session = GatewaySession(external, self.bare)  # type: ignore[arg-type]
        known = KnownTools(folder / "known")
        self.guard = DefinitionGuard(self.coordinator, "srv", ["srv"], known=known)
        self.guard.register()
        self.judge = Judge(self.session, "srv", self.guard)
        self.client, self.server = Line(), Line()
        self.said: list[str] = []
        self.relay = Relay(self.client, self.server, self.judge, self.said.append)
        self.running = asyncio.create_task(self.relay.run())

    def on(self, event: str, answer: Answer, tool: str = "", name: str = "policy") -> None:
        """Have a hook answer, at one tool or at all of them."""

        async def reply(event: str, data: dict[str, Any]) -> HookResult:
            if tool and data.get("tool_name") != tool:
                return HookResult()
            return answer(data) if callable(answer) else answer

        self.coordinator.hooks.register(event, reply, name=name)

    def ask(self, id: Any, method: str = "tools/call", **params: Any) -> None:
        """A request of the client."""
        self.client.put({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    def answer(self, id: Any, result: Any) -> None:
        """A response of the server."""
        self.server.put({"jsonrpc": "2.0", "id": id, "result": result})

    async def settle(self) -> None:
        """Let everything happen that can happen now."""
        for _ in range(50):
            await asyncio.sleep(0)


@asynccontextmanager
async def open_wire(folder: Path, approval: Any = None) -> AsyncIterator[Wire]:
    """A relay that ends with the block."""
    wire = Wire(folder, approval)
    try:
        yield wire
    finally:
        await cancel_and_wait(wire.running)


def say(text: str, **more: Any) -> dict[str, Any]:
    """The result of a tool that says something."""
    return {"content": [{"type": "text", "text": text}], **more}
