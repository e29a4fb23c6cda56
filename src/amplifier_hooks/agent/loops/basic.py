"""loop-basic: run a turn; replies arrive complete.

Emits       execution:*, provider:*, decision:tool_resolution, orchestrator:complete
Configure   max_turns, max_denied, attempts, retry_delay, provider, system, parallel_tools
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.message_models import ChatRequest, ChatResponse
from amplifier_hooks.agent.loops.loop import Loop
from amplifier_hooks.agent.loops.model_call import SYNONYMS, LoopConfig, Turn
from amplifier_hooks.modules.options import parse_known


class BasicLoop(Loop):
    """One request, one reply."""

    name = "loop-basic"

    def fetch_reply(self, turn: Turn, request: ChatRequest) -> Awaitable[ChatResponse]:
        """Ask for the whole reply."""
        return turn.provider.complete(request)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the loop."""
    options = await parse_known(coordinator, LoopConfig, config, "loop-basic", SYNONYMS)
    await coordinator.mount("orchestrator", BasicLoop(options))
    return None
