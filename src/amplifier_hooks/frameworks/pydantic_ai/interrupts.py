"""Questions that Pydantic AI asks: its deferred tool requests, and the answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai import ApprovalRequired, DeferredToolRequests, DeferredToolResults, RunContext

from amplifier_hooks.external.handover import Handed, HandOver

ANSWERED = "answered"
"""What has been answered about a call before: each with the hook, its prompt and the answer."""


def hand_over_to(ctx: RunContext[Any]) -> HandOver:
    """Take the answer that came with the call, or end the run with the question."""

    def hand_over(handed: Handed) -> Any:
        answered = _read_answered(ctx.tool_call_metadata)
        for one in answered:
            if (one.get("hook"), one.get("prompt")) == (handed.hook, handed.prompt):
                return one.get("answer")
        raise ApprovalRequired(metadata={**handed.to_payload(), ANSWERED: answered})

    return hand_over


def _read_answered(metadata: Any) -> list[dict[str, Any]]:
    found = metadata.get(ANSWERED) if isinstance(metadata, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def resume(
    requests: DeferredToolRequests,
    answers: Mapping[str, dict[str, Any]],
    *,
    approvals: Mapping[str, Any] | None = None,
    calls: Mapping[str, Any] | None = None,
) -> DeferredToolResults:
    """What to pass on as `deferred_tool_results`.

    `answers` has for each call that a hook asked about, by its id, what
    `amplifier_hooks.frameworks.answer(requests.metadata[id], option)` made of the person's choice,
    a no included. `approvals` and `calls` are for what the agent itself deferred.
    """
    metadata = {
        call_id: _add_answer(requests, call_id, answer) for call_id, answer in answers.items()
    }
    # The framework only passes the call on: whether it runs, the hooks decide by the answer.
    passed = {**(approvals or {}), **dict.fromkeys(answers, True)}
    return requests.build_results(approvals=passed, calls=dict(calls or {}), metadata=metadata)


def _add_answer(
    requests: DeferredToolRequests, call_id: str, answer: dict[str, Any]
) -> dict[str, Any]:
    payload = requests.metadata.get(call_id) or {}
    if payload.get("amplifier") != "approval":
        asked = [key for key, one in requests.metadata.items() if one.get("amplifier")]
        raise ValueError(
            f"No hook asked about the call {call_id!r}; hooks asked about {asked or 'none'}. "
            "Answer what the agent itself deferred with approvals= or calls="
        )
    answered = {"hook": payload.get("hook"), "prompt": payload.get("prompt"), "answer": answer}
    return {ANSWERED: [*_read_answered(payload), answered]}
