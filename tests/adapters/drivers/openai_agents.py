"""Agents of the OpenAI Agents SDK with its scripted model, behind our hooks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from agents import Agent, FunctionTool, RunConfig, Runner, function_tool
from agents.mcp import MCPServerStdio
from agents.testing import ScriptedModel, assistant_message, function_call
from mcp.client._memory import InMemoryTransport
from mcp.server.mcpserver import MCPServer

from amplifier_hooks.coverage import Coverage
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.openai_agents import amplify, coverage, questions, settle
from tests.adapters.drivers.driver import Driver, Ran, Step

CONFIG = RunConfig(tracing_disabled=True)


def make_model(script: list[Step]) -> ScriptedModel:
    """The SDK's own model for tests."""
    steps: list[Any] = []
    for step in script:
        if isinstance(step, str):
            steps.append([assistant_message(step)])
        else:
            steps.append([function_call(one.name, one.arguments, call_id=one.id) for one in step])
    return ScriptedModel(steps)


def make_tools(ran: Ran) -> list[FunctionTool]:
    """The tools of every scenario."""

    @function_tool
    async def note(text: str) -> str:
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    @function_tool
    def wipe(path: str) -> str:
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    @function_tool
    async def boom(text: str) -> str:
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    return [note, wipe, boom]


def read_requests(model: ScriptedModel) -> list[str]:
    """What the model was sent."""
    return [
        json.dumps([one.system_instructions, one.input], ensure_ascii=False) for one in model.calls
    ]


def attach(agent: Agent[Any], hooks: Governor | None, **options: Any) -> Agent[Any]:
    """Govern an agent; without hooks, it is the SDK's own, to compare with."""
    return agent if hooks is None else amplify(agent, hooks, **options)


class AgentsDriver(Driver):
    """The OpenAI Agents SDK."""

    name: ClassVar[str] = "openai-agents"
    coverage: ClassVar[Coverage] = coverage()
    cannot: ClassVar[Mapping[str, str]] = {}

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran, model = Ran(), make_model(script)
        agent = attach(Agent("agent", tools=make_tools(ran), model=model), hooks)
        return await self._run(ran, model, agent, prompt)

    async def run_turns(self, hooks: Governor, scripts: list[list[Step]]) -> Ran:
        ran, model = Ran(), make_model([step for script in scripts for step in script])
        agent = attach(Agent("agent", tools=make_tools(ran), model=model), hooks)
        said: list[Any] = []
        for _ in scripts:
            asked: Any = [*said, {"role": "user", "content": "Do it."}]
            result = await Runner.run(agent, asked, run_config=CONFIG)
            said = result.to_input_list()
        return self._read(ran, model, result)

    async def _run(self, ran: Ran, model: ScriptedModel, agent: Agent[Any], prompt: str) -> Ran:
        result = await Runner.run(agent, prompt, run_config=CONFIG)
        return self._read(ran, model, result)

    def _read(self, ran: Ran, model: ScriptedModel, result: Any) -> Ran:
        ran.answer = str(result.final_output)
        ran.requests = read_requests(model)
        ran.stored = [json.dumps(one) for one in result.to_input_list()]
        return ran

    def run_sync(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran, model = Ran(), make_model(script)
        agent = attach(Agent("agent", tools=make_tools(ran), model=model), hooks)
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # the SDK makes one for a thread, and never closes it
        try:
            result = Runner.run_sync(agent, prompt, run_config=CONFIG)
        finally:
            asyncio.set_event_loop(None)
            loop.close()
        return self._read(ran, model, result)

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran, model = Ran(), make_model(script)
        agent = attach(Agent("agent", tools=make_tools(ran), model=model), hooks)
        result = Runner.run_streamed(agent, prompt, run_config=CONFIG)
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type.endswith("text.delta"):
                ran.pieces.append(event.data.delta)
        return self._read(ran, model, result)

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran, model = Ran(), make_model(_rename_task(script))
        inner = Agent("helper", tools=make_tools(ran), model=make_model(helper))
        tools = [*make_tools(ran), inner.as_tool("helper", "Does a task.")]
        agent = attach(Agent("agent", tools=tools, model=model), hooks)
        return await self._run(ran, model, agent, prompt)

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        ran, model = Ran(), make_model(script)
        tools = make_tools(ran)
        agent = attach(Agent("agent", tools=tools, model=model), hooks, asks="interrupt")
        result = await Runner.run(agent, prompt, run_config=CONFIG)
        while asked := questions(result):
            state = result.to_state()
            for item, payload in asked:
                given = choose(payload)
                if isinstance(given, dict):
                    settle(state, item, given)
                elif given:
                    state.approve(item)
                else:
                    state.reject(item)
            result = await Runner.run(agent, state, run_config=CONFIG)
        return self._read(ran, model, result)

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran, model = Ran(), make_model(script)
        async with make_server(ran) as server:
            agent = attach(Agent("agent", mcp_servers=[server], model=model), hooks)
            return await self._run(ran, model, agent, prompt)


def _rename_task(script: list[Step]) -> list[Step]:
    """An agent as a tool takes its task as `input`."""
    return [
        step
        if isinstance(step, str)
        else [
            type(one)(one.name, {"input": one.arguments["task"]}, one.id)
            if one.name == "helper"
            else one
            for one in step
        ]
        for step in script
    ]


class ServerInMemory(MCPServerStdio):
    """The SDK's client of an MCP server, with a server in this process at the other end."""

    def __init__(self, server: MCPServer) -> None:
        super().__init__({"command": "none"}, name="notes")
        self._at_the_other_end = server

    def create_streams(self) -> Any:
        return InMemoryTransport(self._at_the_other_end)


def make_server(ran: Ran) -> ServerInMemory:
    """A server with two of the tools."""
    server = MCPServer("notes")

    @server.tool()
    def note(text: str) -> str:
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    @server.tool()
    def wipe(path: str) -> str:
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    return ServerInMemory(server)


DRIVER_CLASS = AgentsDriver
