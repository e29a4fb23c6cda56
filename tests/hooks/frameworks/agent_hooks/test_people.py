"""The approval seam: a denial that may be lifted is a question of our gate."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import ApprovalOutcome, ApprovalRequest, InterceptionPoint, Verdict

from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.frameworks.agent_hooks.host import GateResolver
from tests.support.harness import Harness

CALL = {"tool_call": {"id": "c1", "name": "Write", "args": {"path": "a.txt"}}}


def make_request(
    verdict: Verdict, point: InterceptionPoint = InterceptionPoint.PRE_TOOL_CALL, **context: Any
) -> ApprovalRequest:
    return ApprovalRequest("sha256:1", point, verdict, context or CALL)


@pytest.mark.parametrize(
    ("option", "outcome"), [("Allow once", "approve"), ("Allow", "approve"), ("Deny", "reject")]
)
async def test_a_yes_lifts_the_denial_and_anything_else_does_not(option: str, outcome: str) -> None:
    """The answer echoes what it is about; the question shows what would run, and is on record."""
    person = ScriptedApproval(option)
    harness = Harness(approval=person)
    verdict = Verdict.escalate(reason="policy:ask", message="Really?")
    found = await GateResolver(harness.coordinator, "agent-hooks").resolve(make_request(verdict))
    assert (found.outcome, found.context_identity) == (ApprovalOutcome(outcome), "sha256:1")
    (question,) = person.questions
    assert (question.prompt, question.hook) == ("Allow this? Really?", "agent-hooks")
    assert (question.tool_name, question.tool_input) == ("Write", {"path": "a.txt"})
    assert len(harness.trail.of_type("approval_decided")) == 1


async def test_without_anybody_to_ask_the_denial_stands() -> None:
    """Nobody is no yes."""
    resolver = GateResolver(Harness().coordinator, "agent-hooks")
    found = await resolver.resolve(make_request(Verdict.escalate()))
    assert found.outcome is ApprovalOutcome.REJECT
    assert found.verdict is not None
    assert "No approval system" in (found.verdict.message or "")


async def test_what_is_no_call_can_be_asked_about_as_well() -> None:
    """An answer that is to go out, for example."""
    person = ScriptedApproval("Allow once")
    resolver = GateResolver(Harness(approval=person).coordinator, "agent-hooks")
    request = make_request(
        Verdict.escalate(reason="policy:ask"), InterceptionPoint.OUTPUT, target={"content": "x"}
    )
    assert (await resolver.resolve(request)).outcome is ApprovalOutcome.APPROVE
    assert person.questions[0].event == "prompt:answer"
