"""The approval seam of the contract: whoever our session asks."""

from __future__ import annotations

from typing import Any

from agent_hooks import (
    AgentContext,
    ApprovalOutcome,
    ApprovalRequest,
    ApprovalResolution,
    InterceptionPoint,
    Verdict,
)

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import HookResult

_EVENTS = {
    InterceptionPoint.AGENT_STARTUP: events.SESSION_START,
    InterceptionPoint.INPUT: events.PROMPT_SUBMIT,
    InterceptionPoint.PRE_MODEL_CALL: events.PROVIDER_REQUEST,
    InterceptionPoint.POST_MODEL_CALL: events.PROVIDER_RESPONSE,
    InterceptionPoint.PRE_TOOL_CALL: events.TOOL_PRE,
    InterceptionPoint.POST_TOOL_CALL: events.TOOL_POST,
    InterceptionPoint.OUTPUT: events.PROMPT_ANSWER,
}


class GateResolver:
    """Puts a denial that may be lifted to the session's approval system.

    It is asked as for every hook: with a deadline, the events `approval:*`, and the trail.
    """

    def __init__(self, coordinator: SessionCoordinator, name: str) -> None:
        self._coordinator = coordinator
        self._name = name

    async def resolve(self, request: ApprovalRequest, /) -> ApprovalResolution:
        """Ask; anything but a yes leaves the denial in place."""
        verdict, point = request.verdict, request.interception_point
        why = verdict.message or verdict.reason
        question = HookResult(
            action="ask_user",
            approval_prompt=f"Allow this? {why}" if why else "Allow this operation?",
            reason=verdict.reason,
            data=_describe_call(request.context),
        )
        answer = await self._coordinator.handle_approval_request(
            question, self._name, _EVENTS[point]
        )
        if answer.action == "continue":
            return ApprovalResolution(
                ApprovalOutcome.APPROVE, request.context_identity, Verdict.allow()
            )
        refused = Verdict.deny(reason=verdict.reason, message=answer.reason)
        return ApprovalResolution(ApprovalOutcome.REJECT, request.context_identity, refused)


def _describe_call(context: AgentContext) -> dict[str, Any]:
    """What would run, as the person is shown it."""
    call = context.get("tool_call")
    if not isinstance(call, dict):
        return {"target": context.get("target")}
    return {"tool_name": call["name"], "tool_input": call["args"], "tool_call_id": call["id"]}
