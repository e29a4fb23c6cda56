"""Pydantic AI, with its own FunctionModel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from mcp.server.mcpserver import MCPServer
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolDenied
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from amplifier_hooks.coverage import PYDANTIC_AI, Coverage
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks, resume
from tests.adapters.drivers.driver import Driver, Ran, Step


class Script:
    """A model that replies by script and keeps what it is sent."""

    def __init__(self, steps: Sequence[Step], ran: Ran) -> None:
        self._steps: Iterator[Step] = iter(steps)
        self._ran = ran
        self.model = FunctionModel(self._reply, stream_function=self._stream)

    def _take(self, messages: list[ModelMessage], info: AgentInfo) -> Step:
        self._ran.requests.append(f"{info.instructions or ''}\n{describe(messages)}")
        return next(self._steps)

    def _reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = self._take(messages, info)
        if isinstance(step, str):
            return ModelResponse(parts=[TextPart(step)])
        return ModelResponse(parts=[ToolCallPart(one.name, one.arguments, one.id) for one in step])

    async def _stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        step = self._take(messages, info)
        if isinstance(step, str):
            for word in step.split(" "):
                yield word if word == step.split(" ")[0] else f" {word}"
            return
        for number, one in enumerate(step):
            arguments = ToolCallPart(one.name, one.arguments).args_as_json_str()
            yield {number: DeltaToolCall(one.name, arguments, tool_call_id=one.id)}


def describe(messages: Sequence[ModelMessage]) -> str:
    """Every text in a request."""
    return "\n".join(str(part) for message in messages for part in message.parts)


def add_tools(adder: Any, ran: Ran) -> None:
    """The tools that every driver has, added with a decorator."""

    def note(text: str) -> str:
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    def wipe(path: str) -> str:
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    def boom(text: str) -> str:
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    for tool in (note, wipe, boom):
        adder(tool)


class PydanticAIDriver(Driver):
    """An agent with our capability."""

    name: ClassVar[str] = "pydantic-ai"
    own_answers: ClassVar[Mapping[bool, Any]] = {True: True, False: ToolDenied("use the trash")}
    coverage: ClassVar[Coverage] = PYDANTIC_AI

    def build(self, hooks: Governor, script: list[Step], ran: Ran, **options: Any) -> Agent[Any]:
        """An agent with the tools of the contract."""
        attached = [] if hooks is None else [AmplifierHooks(hooks)]
        more = {"capabilities": attached, **options}
        agent: Agent[Any] = Agent(Script(script, ran).model, name="worker", **more)
        add_tools(agent.tool_plain, ran)
        return agent

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        keep(ran, await self.build(hooks, script, ran).run(prompt))
        return ran

    def run_sync(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        keep(ran, self.build(hooks, script, ran).run_sync(prompt))
        return ran

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        async with self.build(hooks, script, ran).run_stream(prompt) as result:
            async for piece in result.stream_text(delta=True):
                ran.pieces.append(piece)
            ran.answer = await result.get_output()
            ran.stored = [describe(result.all_messages())]
        return ran

    async def run_turns(self, hooks: Governor, scripts: list[list[Step]]) -> Ran:
        ran, history = Ran(), None
        agent = self.build(hooks, [step for script in scripts for step in script], ran)
        for _ in scripts:
            result = await agent.run("Do it.", message_history=history)
            history = result.all_messages()
        keep(ran, result)
        return ran

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran, inner = Ran(), Ran()
        inner.calls = ran.calls
        assistant = self.build(hooks, helper, inner)
        agent = self.build(hooks, script, ran)

        @agent.tool(name="helper")
        async def ask_helper(ctx: RunContext[None], task: str) -> str:
            return str((await assistant.run(task, usage=ctx.usage)).output)

        keep(ran, await agent.run(prompt))
        return ran

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        capability = AmplifierHooks(hooks, asks="interrupt")
        agent = self.build(
            hooks, script, ran, capabilities=[capability], output_type=[str, DeferredToolRequests]
        )
        result = await agent.run(prompt)
        while isinstance(result.output, DeferredToolRequests):
            asked = result.output
            answers = {one: choose(payload) for one, payload in asked.metadata.items()}
            is_ours = all(isinstance(one, dict) for one in answers.values())
            result = await agent.run(
                message_history=result.all_messages(),
                deferred_tool_results=resume(asked, answers)
                if is_ours
                else DeferredToolResults(approvals=answers),
            )
        keep(ran, result)
        return ran

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        server = MCPServer("notes")
        add_tools(server.tool(), ran)
        agent = Agent(
            Script(script, ran).model,
            toolsets=[MCPToolset(server)],
            capabilities=[AmplifierHooks(hooks)],
        )
        async with agent:
            keep(ran, await agent.run(prompt))
        return ran


def keep(ran: Ran, result: Any) -> None:
    """Keep what the caller got."""
    ran.answer = str(result.output)
    ran.stored = [describe(result.all_messages())]


DRIVER_CLASS = PydanticAIDriver
