"""The agent asks whether it may: people elsewhere can answer in the place of its own prompt."""

from __future__ import annotations

import json
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects.incoming import Incoming
from amplifier_hooks.coding_agents.dialects.verdict import Verdict
from amplifier_hooks.coding_agents.sessions.handlers.guest import Guest, judge
from amplifier_hooks.coding_agents.sessions.passing import Passing

PERMISSION = "guest:permission_request"
_ASKER = "guest-permission"
_SHOWN_INPUT = 2000
_SECONDS = 560.0  # below the time that an agent waits for its hooks


async def ask_permission(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """What a person has approved already is allowed; else the hooks decide, or nobody here."""
    data = dict(incoming.data)
    outcome = await judge(guest, PERMISSION, data)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    known = guest.calls.find(incoming.call_id, data["tool_name"], data["tool_input"])
    if outcome.digest or (known is not None and known.approved):
        return Verdict(decision="allow", reason="A person approved exactly this.")
    return Verdict()


def ask_people_elsewhere(coordinator: SessionCoordinator, agent: str) -> None:
    """Have what the agent asks its person put to the people of the approval service as well."""

    async def ask(event: str, data: dict[str, Any]) -> HookResult:
        shown = json.dumps(data.get("tool_input"), ensure_ascii=False, default=str)
        return HookResult(
            action="ask_user",
            approval_prompt=f"{agent} asks: {data.get('tool_name')}\n{shown[:_SHOWN_INPUT]}",
            approval_timeout=_SECONDS,
        )

    coordinator.register_cleanup(coordinator.hooks.register(PERMISSION, ask, 90, _ASKER))
