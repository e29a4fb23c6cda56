"""Questions put to an interrupt of LangGraph, in the form of LangChain's own human-in-the-loop.

A page that was written for that form can show and answer them; what it answers has no digest, so
it counts for what the checkpoint has as shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langgraph.types import interrupt

from amplifier_hooks.external.handover import Handed, bind_plain, decide, find_answered
from amplifier_hooks.frameworks.langchain.runs import GraphRun

DECISIONS = ("approve", "edit", "reject")


def ask(graph: GraphRun, handed: Handed) -> Any:
    """Raise the interrupt; where the run has been resumed, return what was answered."""
    if graph.checkpoint is None:
        raise RuntimeError(
            f"A hook asks about {handed.tool_name}, and asks='interrupt' needs a "
            "checkpointer: create_agent(..., checkpointer=...)"
        )
    given = interrupt(write_question(handed))
    if isinstance(given, dict) and "digest" in given:
        return given
    return _bind(graph.list_shown(), handed, given)


def write_question(handed: Handed) -> dict[str, Any]:
    """Our payload, and around it what pages for LangChain's form read."""
    action = {
        "name": handed.tool_name,
        "args": handed.tool_input,
        "description": handed.prompt,
    }
    review = {"action_name": handed.tool_name, "allowed_decisions": list(DECISIONS)}
    return {**handed.to_payload(), "action_requests": [action], "review_configs": [review]}


def _bind(shown: Iterable[Any], handed: Handed, given: Any) -> Any:
    """The answer with the digest of what was shown for this question."""
    for payload in shown:
        if not isinstance(payload, dict) or payload.get("tool_call_id") != handed.tool_call_id:
            continue
        if (payload.get("hook"), payload.get("prompt")) == (handed.hook, handed.prompt):
            return read_decision(payload, given)
        # LangGraph keeps the last question of a call; that one has the answers to those before.
        if (before := find_answered(payload, handed)) is not None:
            return before
    return None


def read_decision(payload: dict[str, Any], given: Any) -> Any:
    """A decision of that form about what a payload showed; anything that is none as it came."""
    decisions = given.get("decisions") if isinstance(given, dict) else None
    if decisions is None:
        decisions = [given]
    if not isinstance(decisions, list) or len(decisions) != 1:
        return given
    decision = decisions[0]
    if not isinstance(decision, dict):
        return bind_plain(payload, decision)
    match decision.get("type"):
        case "approve":
            return decide(payload, True)
        case "reject":
            return decide(payload, False, comment=str(decision.get("message") or ""))
        case "edit":
            return _read_edit(payload, decision.get("edited_action"))
    return given


def _read_edit(payload: dict[str, Any], action: Any) -> Any:
    """Other arguments for the same tool; another tool is no answer to the question."""
    if not isinstance(action, dict) or action.get("name") != payload.get("tool_name"):
        return action
    edited = action.get("args")
    return decide(payload, True, edited_input=edited) if isinstance(edited, dict) else action
