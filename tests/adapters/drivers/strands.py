"""Strands, with a scripted model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar

from mcp import StdioServerParameters, stdio_client
from strands import Agent, tool
from strands.models.model import Model
from strands.tools.mcp import MCPClient

from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.strands import AmplifierHooks, coverage
from tests.adapters.drivers.driver import Call, Driver, Ran, Step
from tests.support.adapter_runs.plain_mcp_server import record_calls


class ScriptedModel(Model):
    """Says what is in its script, and keeps what it was sent."""

    def __init__(self, script: list[Step], requests: list[str]) -> None:
        self.config = {"model_id": "scripted-1"}
        self.script = list(script)
        self.requests = requests

    def update_config(self, **_: Any) -> None:
        """Nothing can be set."""

    def get_config(self) -> dict[str, Any]:
        return self.config

    async def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not in the script."""
        raise NotImplementedError
        yield

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **_: Any
    ) -> AsyncIterator[Any]:
        self.requests.append(write_request(messages, system_prompt))
        step = self.script.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(step, str):
            for event in say(step):
                yield event
        else:
            for number, call in enumerate(step):
                for event in use(call, number):
                    yield event
        reason = "end_turn" if isinstance(step, str) else "tool_use"
        yield {"messageStop": {"stopReason": reason}}
        usage = {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def say(text: str) -> list[Any]:
    """A text in words."""
    words = text.split(" ")
    pieces = [f"{word} " for word in words[:-1]] + words[-1:]
    return [
        {"contentBlockStart": {"start": {}}},
        *({"contentBlockDelta": {"delta": {"text": piece}}} for piece in pieces),
        {"contentBlockStop": {}},
    ]


def use(call: Call, number: int) -> list[Any]:
    """A tool call."""
    start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
    return [
        {"contentBlockStart": {"start": start, "contentBlockIndex": number}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(call.arguments)}}}},
        {"contentBlockStop": {}},
    ]


def write_request(messages: Any, system_prompt: Any) -> str:
    """Every role and every text of a request."""
    lines = [f"system: {system_prompt}"]
    lines += [f"{one['role']}: {block}" for one in messages for block in one["content"]]
    return "\n".join(lines)


def make_tools(ran: Ran) -> list[Any]:
    """The tools of every driver."""

    @tool
    def note(text: str) -> str:
        """Note a text."""
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    @tool
    async def wipe(path: str) -> str:
        """Wipe a path."""
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    @tool
    def boom(text: str) -> str:
        """Fail."""
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    return [note, wipe, boom]


def make_agent(ran: Ran, script: list[Step], **more: Any) -> Agent:
    """An agent with the usual tools."""
    more.setdefault("tools", make_tools(ran))
    return Agent(
        model=ScriptedModel(script, ran.requests),
        system_prompt="You take notes.",
        callback_handler=None,
        **more,
    )


def finish(ran: Ran, agent: Agent, result: Any) -> Ran:
    """What the caller and the agent have afterwards."""
    ran.answer = str(result).removesuffix("\n")
    ran.stored = [
        block["text"] for one in agent.messages for block in one["content"] if "text" in block
    ]
    return ran


class StrandsDriver(Driver):
    """Runs agents with a model that is written by hand."""

    name = "strands"
    own_answers: ClassVar[Mapping[bool, Any]] = {True: "y", False: "n"}
    coverage = coverage()
    cannot: ClassVar[dict[str, str]] = {}

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        attached = [] if hooks is None else [AmplifierHooks(hooks)]
        agent = make_agent(ran, script, plugins=attached)
        return finish(ran, agent, await agent.invoke_async(prompt))

    def run_sync(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        agent = make_agent(ran, script, hooks=[AmplifierHooks(hooks)])
        return finish(ran, agent, agent(prompt))

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        agent = make_agent(ran, script, plugins=[AmplifierHooks(hooks)])
        result: Any = ""
        async for event in agent.stream_async(prompt):
            if "data" in event:
                ran.pieces.append(event["data"])
            result = event.get("result", result)
        return finish(ran, agent, result)

    async def run_turns(self, hooks: Governor, scripts: list[list[Step]]) -> Ran:
        ran = Ran()
        script = [step for script in scripts for step in script]
        agent = make_agent(ran, script, plugins=[AmplifierHooks(hooks)])
        for _ in scripts:
            result = await agent.invoke_async("Do it.")
        return finish(ran, agent, result)

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran, inside = Ran(), Ran()
        inside.calls = ran.calls
        inner = make_agent(inside, helper, name="helper", description="Helps.")
        tools = [*make_tools(ran), inner]
        agent = make_agent(ran, _name_input(script), tools=tools, plugins=[AmplifierHooks(hooks)])
        return finish(ran, agent, await agent.invoke_async(prompt))

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        agent = make_agent(ran, script, plugins=[AmplifierHooks(hooks, asks="interrupt")])
        result = await agent.invoke_async(prompt)
        while result.stop_reason == "interrupt":
            answers: Any = [
                {"interruptResponse": {"interruptId": one.id, "response": choose(one.reason)}}
                for one in result.interrupts
            ]
            result = await agent.invoke_async(answers)
        return finish(ran, agent, result)

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        with record_calls(ran.calls) as (command, *arguments):
            server = StdioServerParameters(command=command, args=arguments)
            with MCPClient(lambda: stdio_client(server)) as client:
                tools = client.list_tools_sync()
                agent = make_agent(ran, script, tools=tools, plugins=[AmplifierHooks(hooks)])
                result = await agent.invoke_async(prompt)
        return finish(ran, agent, result)


def _name_input(script: list[Step]) -> list[Step]:
    """An agent that is a tool takes an `input`."""
    return [
        step
        if isinstance(step, str)
        else [
            Call(one.name, {"input": one.arguments["task"]}, one.id)
            if one.name == "helper"
            else one
            for one in step
        ]
        for step in script
    ]


DRIVER_CLASS = StrandsDriver
