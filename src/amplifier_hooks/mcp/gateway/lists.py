"""What a server offers, shown to hooks before a model reads it."""

from __future__ import annotations

from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.utils.copying import is_same
from amplifier_hooks.guards.mcp.definition_guard import DefinitionGuard
from amplifier_hooks.guards.mcp.frames import INTERNAL_ERROR, Frame, answer, refuse
from amplifier_hooks.guards.mcp.protocol import LIST, ListData
from amplifier_hooks.mcp.gateway.pending import Pending
from amplifier_hooks.mcp.gateway.rounds import carries_questions, refuse_questions

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
    "initialize": "",
    "server/discover": "",
}
"""The methods by which a server says what it offers, and the key of its items."""


class Lists:
    """Shows one server's lists to hooks, and keeps its tools to what was allowed."""

    def __init__(
        self, coordinator: SessionCoordinator, server: str, guard: DefinitionGuard
    ) -> None:
        self._coordinator = coordinator
        self._server = server
        self._guard = guard

    async def show(self, pending: Pending, response: Frame) -> Frame:
        """The response that the client gets: the very bytes, unless something in it changed."""
        result, method = response.message.get("result"), pending.frame.method
        if not isinstance(result, dict):
            return response
        if carries_questions(response):
            return refuse_questions(pending.id)
        left = dict(result)
        if method == "tools/list":
            left["tools"] = await self._keep_to_allowed(result.get("tools"))
        outcome = await self._judge(method, left)
        if outcome is not None:
            return refuse(pending.id, INTERNAL_ERROR, outcome)
        return response if is_same(left, result) else answer(pending.id, left)

    async def _keep_to_allowed(self, tools: Any) -> list[Any]:
        if not isinstance(tools, list) or any(not isinstance(one, dict) for one in tools):
            raise TypeError("the server lists tools in a form that cannot be judged")
        return list(await self._guard.review(tools))

    async def _judge(self, method: str, left: dict[str, Any]) -> str | None:
        """Have hooks change what is left, or returns why nothing is."""
        key = LISTS[method]
        items, instructions = left.get(key) if key else _list_info(left), left.get("instructions")
        if not isinstance(items, list) or not (items or instructions):
            return None
        if not self._coordinator.reaches_anybody(LIST):
            return None
        data = ListData(server=self._server, method=method, items=items)
        if isinstance(instructions, str):
            data["instructions"] = instructions
        outcome = await self._coordinator.judge(LIST, data)
        if not outcome.allowed and key:
            return outcome.denial
        seen = outcome.data or {} if outcome.allowed else {}
        if key:
            left[key] = _check_items(seen.get("items", items))
        elif items:
            unseen = {"name": self._server, "version": "unknown"}
            left["serverInfo"] = next(iter(_check_items(seen.get("items", []))), unseen)
        if instructions is not None and not is_same(seen.get("instructions"), instructions):
            left["instructions"] = str(seen.get("instructions") or "")
        return None


def _list_info(result: dict[str, Any]) -> list[Any]:
    """What a server calls itself, and says of itself."""
    info = result.get("serverInfo")
    return [info] if info else []


def _check_items(items: Any) -> list[Any]:
    if not isinstance(items, list) or any(not isinstance(one, dict) for one in items):
        raise TypeError("a hook left a list in a form that clients would not read")
    return items
