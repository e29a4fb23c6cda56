"""Questions that the framework asks: as its approval request, and the answer from its response."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import AgentSession, Content, Message, MiddlewareFailure

from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.agent_framework import respond
from tests.adapters.drivers.agent_framework import ScriptedClient, make_agent, make_tools
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import Stage, ask, call, change_input, use

WIPE = call("wipe", path="/tmp/x")


async def ask_framework(stage: Stage, ran: Ran, **more: Any) -> tuple[Any, AgentSession, Any]:
    """An agent, its session and the response with a question."""
    client = ScriptedClient(use(WIPE), **more)
    agent = make_agent(stage.hooks, client, make_tools(ran), asks="interrupt")
    session = agent.create_session()
    return agent, session, await agent.run("Do it.", session=session)


async def test_the_request_has_the_question_and_exactly_what_would_run(stage: Stage) -> None:
    """Hooks may have changed the arguments before."""
    stage.answer("tool:pre", change_input(path="/tmp/y"), tool="wipe", name="changer", priority=-5)
    stage.answer("tool:pre", ask("Really?"), tool="wipe")
    ran = Ran()
    agent, session, response = await ask_framework(stage, ran)
    (request,) = response.user_input_requests
    assert request.function_call.parse_arguments() == {"path": "/tmp/y"}
    payload = request.additional_properties["amplifier"]
    assert payload["prompt"] == "Really?"
    json.dumps(payload)
    given = respond(request, answer(payload, "Allow", by="ana"))
    await agent.run(Message("user", [given]), session=session)
    assert ran.calls == [("wipe", {"path": "/tmp/y"})]


async def test_a_program_that_knows_nothing_of_hooks_can_answer(stage: Stage) -> None:
    """With the framework's own response, approved or not."""
    stage.answer("tool:pre", ask(), tool="wipe")
    for approved in (True, False):
        ran = Ran()
        agent, session, response = await ask_framework(stage, ran)
        given = response.user_input_requests[0].to_function_approval_response(approved)
        await agent.run(Message("user", [given]), session=session)
        assert len(ran.calls) == int(approved)


async def test_two_questions_about_one_call_are_asked_one_after_the_other(stage: Stage) -> None:
    """Each answer counts for its question."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    ran, asked = Ran(), []
    agent, session, response = await ask_framework(stage, ran)
    while response.user_input_requests:
        request = response.user_input_requests[0]
        payload = request.additional_properties["amplifier"]
        asked.append(payload["prompt"])
        given = respond(request, answer(payload, "Allow", by="ana"))
        response = await agent.run(Message("user", [given]), session=session)
    assert asked == ["First?", "Second?"]
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_a_session_can_be_stored_while_somebody_thinks(stage: Stage) -> None:
    """The answer may come in another process."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    agent, session, response = await ask_framework(stage, ran)
    stored = json.dumps(session.to_dict())
    request = Content.from_dict(json.loads(json.dumps(response.user_input_requests[0].to_dict())))
    again = AgentSession.from_dict(json.loads(stored))
    given = respond(request, answer(request.additional_properties["amplifier"], "Allow"))
    await agent.run(Message("user", [given]), session=again)
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_an_answer_that_comes_twice_runs_nothing_twice(stage: Stage) -> None:
    """The framework forgets a request with its answer."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    agent, session, response = await ask_framework(stage, ran)
    request = response.user_input_requests[0]
    given = respond(request, answer(request.additional_properties["amplifier"], "Allow"))
    await agent.run(Message("user", [given]), session=session)
    agent.client.steps = ["Once is enough."]
    await agent.run(Message("user", [given]), session=session)
    assert len(ran.calls) == 1


async def test_questions_leave_a_stream_as_well(stage: Stage) -> None:
    """Both turns are streamed."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("provider:response")
    ran = Ran()
    agent = make_agent(stage.hooks, ScriptedClient(use(WIPE)), make_tools(ran), asks="interrupt")
    session = agent.create_session()
    first = await agent.run("Do it.", stream=True, session=session).get_final_response()
    request = first.user_input_requests[0]
    given = respond(request, answer(request.additional_properties["amplifier"], "Allow"))
    message = Message("user", [given])
    await agent.run(message, stream=True, session=session).get_final_response()
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_a_question_needs_a_session(stage: Stage) -> None:
    """Without one, the framework would not take the answer."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    agent = make_agent(stage.hooks, ScriptedClient(use(WIPE)), make_tools(ran), asks="interrupt")
    with pytest.raises(MiddlewareFailure, match=r"agent\.create_session\(\)"):
        await agent.run("Do it.")
    assert ran.calls == []


async def test_questions_of_a_sub_agent_are_asked_inline(stage: Stage) -> None:
    """The framework does not hand them on to who runs the outer agent."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    hooks, ran = stage.hooks, Ran()
    inner = make_agent(hooks, ScriptedClient(use(WIPE)), make_tools(ran), asks="interrupt")
    client = ScriptedClient(use(call("helper", task="Wipe.")))
    outer = make_agent(hooks, client, [inner.as_tool(name="helper")], asks="interrupt")
    await outer.run("Do it.", session=outer.create_session())
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


def test_only_our_requests_are_answered_like_this() -> None:
    """Another one has no payload."""
    made = Content.from_function_call("c", "wipe", arguments={}, id="o")
    with pytest.raises(ValueError, match="to_function_approval_response"):
        respond(Content.from_function_approval_request("o", made), {})
