"""Tool calls judged where the tool itself is run."""

from __future__ import annotations

import asyncio
import contextlib
import copy
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
from google.genai import types

from amplifier_core import HookResult
from amplifier_hooks.frameworks.google_adk import AmplifierPlugin
from amplifier_hooks.frameworks.google_adk.plugin import has_run, take_hold
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.google_adk import ScriptedLlm, make_tools, say
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
