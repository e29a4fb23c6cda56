"""The question as a person gets it."""

from __future__ import annotations

from amplifier_core.approval import ApprovalSystem, DecidingApprovalSystem
from amplifier_core.gatekeeper import digest_operation
from amplifier_core.testing import ScriptedApproval
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, modifies, says
from tests.support.people import PlainPerson


def test_protocols_of_approval():
    assert isinstance(PlainPerson(), ApprovalSystem)
    assert isinstance(ScriptedApproval(), DecidingApprovalSystem)


async def test_the_prompt_goes_verbatim():
    """Control characters included: to show them safely is the front end's work."""
    person = PlainPerson("Allow")
    harness = Harness(approval=person)
    fields = {"approval_options": ["Allow", "Deny"], "approval_timeout": 7.5}
    harness.hooks.register(PRE, asks("Weird \u202e \x1b[2K?", **fields))
    await harness.pre()
    assert person.asked == [("Weird \u202e \x1b[2K?", ["Allow", "Deny"], 7.5, "deny")]


async def test_a_question_without_a_prompt_has_one():
    person = PlainPerson("Allow")
    harness = Harness(approval=person)
    harness.hooks.register(PRE, says("ask_user"))
    await harness.pre()
    assert person.prompts == ["Allow this operation?"]


async def test_the_person_sees_the_final_call():
    """Also what a hook changed that runs after the one that asked."""
    reader = ScriptedApproval("Allow")
    harness = Harness(approval=reader)
    harness.hooks.register(PRE, asks("w?", reason="because"), priority=0, name="guard")
    harness.hooks.register(PRE, modifies(tool_input={"path": "/safe"}), priority=1)
    result = await harness.judge(PRE, tool_name="Write", tool_input={"path": "/etc"})
    [question] = reader.questions
    assert question.tool_input == result.data["tool_input"] == {"path": "/safe"}
    assert (question.hook, question.event, question.reason) == ("guard", PRE, "because")
    assert (question.tool_name, question.session_id) == ("Write", "test-session")
    assert question.digest == digest_operation(PRE, result.data)
    assert result.digest == question.digest
    recorded = {body["digest"] for body in harness.bodies("approval_requested")}
    recorded |= {body["digest"] for body in harness.bodies("approval_decided")}
    assert recorded == {question.digest}
