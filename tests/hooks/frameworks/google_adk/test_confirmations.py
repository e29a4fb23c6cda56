"""Questions as tool confirmations of the framework, on the framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.tools.function_tool import FunctionTool
from google.adk.workflow import START, Workflow
from google.genai import types

from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.google_adk import AmplifierPlugin
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.google_adk import CONFIRMATION
from tests.adapters.stage import Stage, ask, call, use
from tests.hooks.frameworks.google_adk.test_plugin import make_agent, make_runner, work

Confirm = Callable[[dict[str, Any]], dict[str, Any]]


async def converse(stage: Stage, ran: Ran, confirm: Confirm, tools: list[Any] | None = None) -> int:
    """Run, answer every request for a confirmation, and count them."""
    agent = make_agent(ran, use(call("wipe", path="/tmp/x")))
    if tools is not None:
        agent.tools = tools
    runner = make_runner(agent, AmplifierPlugin(stage.hooks, asks="interrupt"))
    message, asked = types.Content(role="user", parts=[types.Part(text="Do it.")]), 0
    while True:
        found = runner.run_async(user_id="u", session_id="s", new_message=message)
        calls = [one async for event in found for one in _find_requests(event)]
        if not calls:
            return asked
        asked += len(calls)
        message = types.Content(role="user", parts=[_respond(one, confirm) for one in calls])


def _find_requests(event: Any) -> list[types.FunctionCall]:
    return [one for one in event.get_function_calls() if one.name == CONFIRMATION]


def _respond(asked: types.FunctionCall, confirm: Confirm) -> types.Part:
    response = confirm((asked.args or {})["toolConfirmation"])
    return types.Part(
        function_response=types.FunctionResponse(id=asked.id, name=asked.name, response=response)
    )


@pytest.mark.parametrize("confirmed", [True, False])
async def test_a_plain_confirmation_counts(stage: Stage, confirmed: bool) -> None:
    """The framework's own pages send no more than yes or no; what was asked is in its session."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    assert await converse(stage, ran, lambda _: {"confirmed": confirmed}) == 1
    assert ran.calls == ([("wipe", {"path": "/tmp/x"})] if confirmed else [])
    assert len(ran.requests) == 2


async def test_a_no_stands_whatever_comes_with_it(stage: Stage) -> None:
    """Who does not confirm has not allowed."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()

    def refuse(asked: dict[str, Any]) -> dict[str, Any]:
        return {"confirmed": False, "payload": answer(asked["payload"], "Allow")}

    await converse(stage, ran, refuse)
    assert ran.calls == []


@pytest.mark.parametrize("payload", ["yes", {"digest": "0"}, {"option": 1}])
async def test_another_answer_runs_nothing(stage: Stage, payload: Any) -> None:
    """What `answer` did not make is no answer to a question of a hook."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    await converse(stage, ran, lambda _: {"confirmed": True, "payload": payload})
    assert ran.calls == []
    assert len(ran.requests) == 2


async def test_an_answer_that_cannot_be_read_runs_nothing(stage: Stage) -> None:
    """The framework itself refuses to read it."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    with pytest.raises(ValueError, match="confirmed"):
        await converse(stage, ran, lambda _: {"confirmed": "perhaps"})
    assert ran.calls == []


async def test_a_second_question_is_refused(stage: Stage) -> None:
    """The framework asks once about a call, so a yes to the first question runs nothing."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    ran = Ran()
    assert await converse(stage, ran, lambda _: {"confirmed": True}) == 1
    assert ran.calls == []
    assert "asks once" in ran.requests[-1]
    assert "second" in ran.requests[-1]


async def test_a_confirmation_that_the_tool_requires_is_no_answer_to_a_hook(stage: Stage) -> None:
    """The framework's own question was asked, and that of the hook was not."""
    ran = Ran()

    async def wipe(path: str) -> str:
        """Wipe a path."""
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    tools = [FunctionTool(wipe, require_confirmation=True)]
    stage.answer("tool:pre", ask(), tool="wipe")
    assert await converse(stage, ran, lambda _: {"confirmed": True}, tools) == 1
    assert ran.calls == []
    assert "asks once" in ran.requests[-1]


async def test_a_tool_that_requires_a_confirmation_runs_with_it(stage: Stage) -> None:
    """Where no hook asks, the framework's own question is enough."""
    ran = Ran()

    async def wipe(path: str) -> str:
        """Wipe a path."""
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    stage.listen("tool:pre")
    tools = [FunctionTool(wipe, require_confirmation=True)]
    assert await converse(stage, ran, lambda _: {"confirmed": True}, tools) == 1
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert stage.heard.names == ["tool:pre"]


async def test_a_step_of_a_workflow_is_asked_about(stage: Stage) -> None:
    """Its call has another id each time, and the answer counts all the same."""
    ran = Ran()

    async def wipe(path: str) -> str:
        """Wipe a path."""
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    def find(node_input: Any) -> dict[str, str]:
        """Find the path."""
        return {"path": "/tmp/x"}

    stage.answer("tool:pre", ask(), tool="wipe")
    flow = Workflow(name="flow", edges=[(START, find, FunctionTool(wipe))])
    runner = make_runner(flow, AmplifierPlugin(stage.hooks, asks="interrupt"))
    (asked,) = [one for event in await work(runner) for one in event.get_function_calls()]
    assert ran.calls == []
    response = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True})
    message = types.Content(role="user", parts=[types.Part(function_response=response)])
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
        pass
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
