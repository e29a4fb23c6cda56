"""Tool calls of an agent, and what people confirm of them."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.agents.live_request_queue import LiveRequestQueue
from google.adk.models.base_llm_connection import BaseLlmConnection
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.adk.workflow import START, Workflow
from google.genai import types

from amplifier_core import HookResult
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.google_adk import AmplifierPlugin
from amplifier_hooks.frameworks.google_adk.plugin import has_run, take_hold
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.google_adk import CONFIRMATION, ScriptedLlm, make_tools, say
from tests.adapters.stage import DONE, Stage, ask, call, change_output, use
from tests.hooks.frameworks.google_adk.test_plugin import make_agent, make_runner, work

DENY = HookResult(action="deny", reason="against the rules")
WIPE = use(call("wipe", path="/tmp/x"))


async def test_a_person_sees_what_a_callback_of_the_agent_made_of_the_call(stage: Stage) -> None:
    """The agent's own callbacks come after plugins, and hooks after both."""

    def change(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> None:
        args["path"] = "/tmp/changed"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = Ran()
    agent = make_agent(ran, WIPE, before_tool_callback=change)
    await work(make_runner(agent, AmplifierPlugin(stage.hooks)))
    assert [one.tool_input for one in stage.person.questions] == [{"path": "/tmp/changed"}]
    assert ran.calls == [("wipe", {"path": "/tmp/changed"})]


async def test_a_call_that_a_callback_answers_runs_nothing(stage: Stage) -> None:
    """Where the framework does not run the tool, there is nothing to judge."""
    stage.listen("tool:pre")
    ran = Ran()
    agent = make_agent(ran, WIPE, before_tool_callback=lambda **_: {"result": "from a cache"})
    await work(make_runner(agent, AmplifierPlugin(stage.hooks)))
    assert ran.calls == []
    assert stage.heard.names == []
    assert "from a cache" in ran.requests[-1]


async def test_callbacks_after_the_tool_get_its_own_object(stage: Stage) -> None:
    """Hooks that say continue leave the result that the tool returned."""
    made: dict[str, Any] = {"rows": [1, 2]}
    seen: list[Any] = []

    def find() -> dict[str, Any]:
        """Find rows."""
        return made

    stage.answer("tool:post", HookResult())
    agent = make_agent(
        Ran(), use(call("find")), after_tool_callback=lambda **given: seen.append(given)
    )
    agent.tools = [find]
    await work(make_runner(agent, AmplifierPlugin(stage.hooks)))
    assert seen[0]["tool_response"] is made


async def test_what_a_tool_writes_into_the_state_stays(stage: Stage) -> None:
    """The framework's own context reaches the tool, also when hooks change the result."""

    def keep(tool_context: ToolContext) -> str:
        """Keep something."""
        tool_context.state["kept"] = "yes"
        return "kept"

    stage.answer("tool:post", change_output("kept it"))
    ran = Ran()
    agent = make_agent(ran, use(call("keep")))
    agent.tools = [keep]
    runner = make_runner(agent, AmplifierPlugin(stage.hooks))
    await work(runner)
    session = await runner.session_service.get_session(
        app_name=runner.app_name, user_id="u", session_id="s"
    )
    assert session.state["kept"] == "yes"
    assert "kept it" in ran.requests[-1]


async def test_an_error_result_is_no_success(stage: Stage) -> None:
    """A tool of this framework says with an `error` that it failed."""
    stage.listen("tool:post")
    ran = Ran()
    await work(make_runner(make_agent(ran, use(call("note"))), AmplifierPlugin(stage.hooks)))
    assert ran.calls == []
    assert stage.heard.events[0][1]["success"] is False
    assert "text" in str(stage.heard.events[0][1]["tool_result"]["error"])


async def test_a_tool_without_our_plugin_is_left_alone(stage: Stage) -> None:
    """The same tool in another runner: nobody is asked there."""

    async def wipe(path: str) -> str:
        """Wipe a path."""
        return f"wiped {path}"

    stage.answer("tool:pre", DENY)
    shared, ran, free = FunctionTool(wipe), Ran(), Ran()
    governed, plain = make_agent(ran, WIPE), make_agent(free, WIPE)
    governed.tools = plain.tools = [shared]
    await work(make_runner(governed, AmplifierPlugin(stage.hooks)))
    await work(make_runner(plain))
    assert "against the rules" in ran.requests[-1]
    assert "wiped /tmp/x" in free.requests[-1]


class Invoked:
    """Stands for an invocation whose calls are all refused."""

    run = None
    refusal = "refused"


async def run_tool(tool: BaseTool) -> Any:
    """Run a tool in a call that is governed."""
    context: Any = Context()
    assert take_hold(tool, context, Invoked()) is None  # type: ignore[arg-type]
    return await tool.run_async(args={}, tool_context=context)


class Context:
    """Stands for the context of a call."""


async def test_a_tool_looks_the_same_as_before() -> None:
    """Its class has the same name, and is still a kind of what it was."""
    tool = FunctionTool(run_tool)
    await run_tool(tool)
    assert isinstance(tool, FunctionTool)
    assert type(tool).__name__ == "FunctionTool"
    assert type(tool).__qualname__ == "FunctionTool"


class Own(BaseTool):
    """A tool that says who it is."""

    async def run_async(self, **_: Any) -> str:
        return self.name


async def test_a_copy_of_a_tool_runs_itself() -> None:
    """Frameworks copy tools to rename them."""
    tool = Own(name="one", description="")
    assert await run_tool(tool) == {"error": "refused"}
    other = copy.copy(tool)
    other.name = "two"
    free: Any = Context()
    assert await other.run_async(args={}, tool_context=free) == "two"
    assert await run_tool(other) == {"error": "refused"}


async def test_a_tool_with_a_function_of_its_own_is_judged() -> None:
    """A function that somebody put on one tool does not hide it from hooks."""
    tool: Any = Own(name="one", description="")

    async def run_async(**_: Any) -> str:
        return "mine"

    tool.run_async = run_async
    assert await run_tool(tool) == {"error": "refused"}


def test_a_tool_that_cannot_be_held_is_refused() -> None:
    """No call runs that hooks cannot judge."""

    class Stubborn(Own):
        def __setattr__(self, name: str, value: Any) -> None:
            if name in ("__class__", "run_async"):
                raise AttributeError(name)
            super().__setattr__(name, value)

    context: Any = Context()
    why = take_hold(Stubborn(name="one", description=""), context, Invoked())  # type: ignore[arg-type]
    assert why is not None
    assert "one" in why
    assert not has_run(context)


class LiveConnection(BaseLlmConnection):
    """Wants to wipe something, and is done when it has a result."""

    def __init__(self) -> None:
        self.replies: asyncio.Queue[LlmResponse] = asyncio.Queue()

    async def send_history(self, history: Any) -> None:
        """There is none."""

    async def send_content(self, content: Any, **_: Any) -> None:
        done = any(part.function_response for part in content.parts)
        reply = say(DONE) if done else say([call("wipe", path="/tmp/x")])
        self.replies.put_nowait(LlmResponse(content=reply, turn_complete=done))

    async def send_realtime(self, blob: Any, **_: Any) -> None:
        """Nobody speaks."""

    async def receive(self) -> Any:
        while True:
            yield await self.replies.get()

    async def close(self) -> None:
        """Nothing is open."""


class LiveModel(ScriptedLlm):
    """A model for live sessions."""

    @contextlib.asynccontextmanager
    async def connect(self, llm_request: Any) -> Any:
        yield LiveConnection()


async def test_a_call_in_a_live_session_is_judged(stage: Stage) -> None:
    """What is said there is not seen, but no tool runs without the hooks."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:start", "session:end")
    ran = Ran()
    model = LiveModel(model="scripted-1", script=[])
    agent = LlmAgent(name="agent", model=model, tools=make_tools(ran))
    runner = make_runner(agent, AmplifierPlugin(stage.hooks))
    await runner.session_service.create_session(
        app_name=runner.app_name, user_id="u", session_id="s"
    )
    queue = LiveRequestQueue()
    queue.send_content(types.Content(role="user", parts=[types.Part(text="Do it.")]))
    events = runner.run_live(user_id="u", session_id="s", live_request_queue=queue)
    said = ""
    async for event in events:
        said += str(event.content)
        if event.turn_complete:
            queue.close()
            break
    await events.aclose()
    assert "against the rules" in said
    assert ran.calls == []
    assert stage.heard.names == ["session:start", "session:end"]


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
