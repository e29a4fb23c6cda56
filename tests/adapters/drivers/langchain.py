"""LangChain: agents of create_agent with a scripted model of its own kind."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from amplifier_hooks.coverage import Coverage
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware, coverage
from tests.adapters.drivers.driver import Call, Driver, Ran, Step

MCP_SERVER = """
import json
import sys

from mcp.server.fastmcp import FastMCP

server = FastMCP("tools", log_level="ERROR")


def record(name, **arguments):
    with open(sys.argv[1], "a") as file:
        file.write(json.dumps([name, arguments]) + "\\n")


@server.tool()
def note(text: str) -> str:
    "Note something."
    record("note", text=text)
    return f"noted {text}"


@server.tool()
def wipe(path: str) -> str:
    "Wipe something."
    record("wipe", path=path)
    return f"wiped {path}"


server.run()
"""


class ScriptedModel(GenericFakeChatModel):
    """Says what a script says, and keeps what it was sent."""

    requests: Any
    """Of any type, because pydantic copies a list."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """The script knows the tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.requests.append(json.dumps([[one.type, one.content] for one in messages]))
        return super()._generate(messages, *args, **kwargs)

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        said = self._generate(messages).generations[0].message
        assert isinstance(said, AIMessage)
        for word in str(said.content).split(" "):
            space = "" if str(said.content).startswith(word) else " "
            yield ChatGenerationChunk(message=AIMessageChunk(content=space + word))
        chunks = [
            {"name": one["name"], "args": json.dumps(one["args"]), "id": one["id"], "index": index}
            for index, one in enumerate(said.tool_calls)
        ]
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", tool_call_chunks=chunks, chunk_position="last")
        )


def make_model(script: list[Step], requests: list[str]) -> ScriptedModel:
    """A model that says this."""
    return ScriptedModel(messages=iter([make_message(step) for step in script]), requests=requests)


def make_message(step: Step) -> AIMessage:
    """One reply."""
    if isinstance(step, str):
        return AIMessage(step)
    return AIMessage("", tool_calls=[make_call(call) for call in step])


def make_call(call: Call) -> ToolCall:
    """One tool call."""
    return ToolCall(name=call.name, args=call.arguments, id=call.id, type="tool_call")


def make_tools(ran: Ran) -> list[BaseTool]:
    """The tools of every agent here."""

    def note(text: str) -> str:
        """Note something."""
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    def wipe(path: str) -> str:
        """Wipe something."""
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    def boom(text: str) -> str:
        """Fail."""
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    return [StructuredTool.from_function(one) for one in (note, wipe, boom)]


class LangChainDriver(Driver):
    """Agents of LangChain."""

    name: ClassVar[str] = "langchain"
    coverage: ClassVar[Coverage] = coverage()
    own_answers: ClassVar[Mapping[bool, Any]] = {
        True: {"decisions": [{"type": "approve"}]},
        False: {"decisions": [{"type": "reject", "message": "use the trash"}]},
    }

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        agent = make_agent(hooks, script, ran)
        return finish(ran, await agent.ainvoke({"messages": prompt}))

    async def run_with_nothing(self, script: list[Step]) -> Ran:
        ran = Ran()
        model, tools = make_model(script, ran.requests), make_tools(ran)
        agent = create_agent(model, tools, middleware=[PassOn()])
        return finish(ran, await agent.ainvoke({"messages": "Do it."}))

    def run_sync(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        agent = make_agent(hooks, script, ran)
        return finish(ran, agent.invoke({"messages": prompt}))

    async def run_turns(self, hooks: Governor, scripts: list[list[Step]]) -> Ran:
        ran = Ran()
        agent = make_agent(hooks, [step for script in scripts for step in script], ran)
        state: dict[str, Any] = {"messages": []}
        for _ in scripts:
            state = await agent.ainvoke({"messages": [*state["messages"], ("user", "Do it.")]})
        return finish(ran, state)

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran, last = Ran(), {}
        agent = make_agent(hooks, script, ran)
        modes = ["messages", "values"]
        async for mode, piece in agent.astream({"messages": prompt}, stream_mode=modes):
            if mode == "values":
                last = piece
            elif isinstance(piece[0], AIMessageChunk):
                ran.pieces.append(str(piece[0].content))
        return finish(ran, last)

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        middleware = AmplifierMiddleware(hooks)
        inner = create_agent(
            make_model(helper, []), make_tools(ran), middleware=[middleware], name="cleaner"
        )

        async def call_helper(task: str) -> str:
            """Have somebody else do it."""
            done = await inner.ainvoke({"messages": task})
            return str(done["messages"][-1].content)

        tool = StructuredTool.from_function(coroutine=call_helper, name="helper")
        agent = create_agent(make_model(script, ran.requests), [tool], middleware=[middleware])
        return finish(ran, await agent.ainvoke({"messages": prompt}))

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        middleware = AmplifierMiddleware(hooks, asks="interrupt")
        agent = create_agent(
            make_model(script, ran.requests),
            make_tools(ran),
            middleware=[middleware],
            checkpointer=InMemorySaver(),
        )
        config: Any = {"configurable": {"thread_id": "1"}}
        state = await agent.ainvoke({"messages": prompt}, config)
        while questions := state.get("__interrupt__"):
            answers = {one.id: choose(one.value) for one in questions}
            state = await agent.ainvoke(Command(resume=answers), config)
        return finish(ran, state)

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        with TemporaryDirectory() as folder:
            server, log = Path(folder) / "server.py", Path(folder) / "calls.jsonl"
            server.write_text(MCP_SERVER)
            connection: Any = {
                "transport": "stdio",
                "command": sys.executable,
                "args": [str(server), str(log)],
            }
            tools = await MultiServerMCPClient({"tools": connection}).get_tools()
            model, middleware = make_model(script, ran.requests), AmplifierMiddleware(hooks)
            agent = create_agent(model, tools, middleware=[middleware])
            finish(ran, await agent.ainvoke({"messages": prompt}))
            lines = log.read_text().splitlines() if log.exists() else []
        ran.calls = [(name, given) for name, given in map(json.loads, lines)]
        return ran


class PassOn(AgentMiddleware[Any, Any, Any]):
    """Stands where ours does, and does nothing."""

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


def make_agent(hooks: Governor, script: list[Step], ran: Ran) -> Any:
    """An agent behind our hooks."""
    middleware = [] if hooks is None else [AmplifierMiddleware(hooks)]
    return create_agent(make_model(script, ran.requests), make_tools(ran), middleware=middleware)


def finish(ran: Ran, state: dict[str, Any]) -> Ran:
    """Keep what the caller got."""
    ran.answer = str(state["messages"][-1].content)
    ran.stored = [str(one.content) for one in state["messages"]]
    return ran


DRIVER_CLASS = LangChainDriver
