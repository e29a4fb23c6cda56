"""Microsoft Agent Framework, with a chat client that reads its replies from a script."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, ClassVar

from agent_framework import (
    Agent,
    AgentResponse,
    AgentSession,
    BaseChatClient,
    ChatContext,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    FunctionTool,
    MCPStdioTool,
    Message,
    ResponseStream,
    chat_middleware,
    function_middleware,
)

from amplifier_hooks.coverage import AGENT_FRAMEWORK, Asking, Coverage
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.agent_framework import amplifier, respond
from tests.adapters.drivers.driver import Driver, Ran, Step
from tests.support.adapter_runs.plain_mcp_server import record_calls


class ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Replies as its script says and keeps what it was sent."""

    def __init__(self, script: Sequence[Step], **more: Any) -> None:
        super().__init__(**more)
        self.steps = list(script)
        self.requests: list[str] = []

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **more: Any,
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        self.requests.append("\n".join([read_instructions(options), *map(read_all, messages)]))
        contents = make_contents(self.steps.pop(0))
        if not stream:
            return self._reply(contents)
        made: Any = ResponseStream
        return made(self._stream(contents), finalizer=ChatResponse.from_updates)

    async def _reply(self, contents: list[Content]) -> ChatResponse[Any]:
        return ChatResponse(messages=[Message("assistant", contents)], finish_reason="stop")

    async def _stream(self, contents: list[Content]) -> AsyncIterator[ChatResponseUpdate]:
        for one in contents:
            for piece in split(one):
                yield ChatResponseUpdate(contents=[piece], role="assistant")


def make_contents(step: Step) -> list[Content]:
    """What a model says in one step."""
    if isinstance(step, str):
        return [Content.from_text(step)]
    return [Content.from_function_call(one.id, one.name, arguments=one.arguments) for one in step]


def split(content: Content) -> list[Content]:
    """A text comes word by word."""
    if content.type != "text":
        return [content]
    words = (content.text or "").split(" ")
    return [
        Content.from_text(word if number == 0 else f" {word}") for number, word in enumerate(words)
    ]


def read_instructions(options: Mapping[str, Any]) -> str:
    """The system prompt of a request."""
    return f"system: {options.get('instructions') or ''}"


def read_all(message: Message) -> str:
    """Everything that is said in a message."""
    parts = [
        str(one.text if one.type == "text" else one.result or one.arguments or "")
        for one in message.contents
    ]
    return f"{message.role}: {' '.join(parts)}"


def make_tools(ran: Ran) -> list[FunctionTool]:
    """The tools of an agent, which record that they ran."""

    def note(text: str) -> str:
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    def wipe(path: str) -> str:
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    def boom(text: str) -> str:
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    return [FunctionTool(name=one.__name__, func=one) for one in (note, wipe, boom)]


def make_agent(
    hooks: Governor | None, client: ScriptedClient, tools: Sequence[Any], asks: Asking = "inline"
) -> Agent[Any]:
    """An agent behind hooks; without any, an agent as it is."""
    return Agent(
        client,
        "You take notes.",
        name="notes",
        tools=list(tools),
        middleware=[] if hooks is None else [amplifier(hooks, asks=asks)],
    )


@function_middleware
async def pass_call_on(context: FunctionInvocationContext, call_next: Any) -> None:
    """Stands where our middleware does, and does nothing."""
    await call_next()


@chat_middleware
async def pass_request_on(context: ChatContext, call_next: Any) -> None:
    """Stands where our middleware does, and does nothing."""
    await call_next()


class AgentFrameworkDriver(Driver):
    """Agents of Microsoft Agent Framework."""

    name: ClassVar[str] = AGENT_FRAMEWORK.name
    coverage: ClassVar[Coverage] = AGENT_FRAMEWORK
    cannot: ClassVar[dict[str, str]] = {
        "the_synchronous_entry_point_is_governed": "its agents have no synchronous entry point",
        "a_question_in_the_synchronous_entry_point": "its agents have no synchronous entry point",
    }

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        """`await agent.run()`."""
        ran, client = Ran(), ScriptedClient(script)
        session = AgentSession()
        with keep_requests(ran, client):
            response = await make_agent(hooks, client, make_tools(ran)).run(prompt, session=session)
            ran.answer = response.text
        ran.stored = read_stored(session)
        return ran

    async def run_turns(self, hooks: Governor, scripts: list[list[Step]]) -> Ran:
        """Runs with one session."""
        ran, client = Ran(), ScriptedClient([step for script in scripts for step in script])
        agent, session = make_agent(hooks, client, make_tools(ran)), AgentSession()
        with keep_requests(ran, client):
            for _ in scripts:
                await agent.run("Do it.", session=session)
        return ran

    async def run_with_nothing(self, script: list[Step]) -> Ran:
        """`await agent.run()` with middleware that does nothing."""
        ran, client = Ran(), ScriptedClient(script)
        middleware: list[Any] = [pass_call_on, pass_request_on]
        agent = Agent(client, name="notes", tools=make_tools(ran), middleware=middleware)
        with keep_requests(ran, client):
            await agent.run("Do it.", session=AgentSession())
        return ran

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        """`agent.run(stream=True)`."""
        ran, client = Ran(), ScriptedClient(script)
        session = AgentSession()
        with keep_requests(ran, client):
            agent = make_agent(hooks, client, make_tools(ran))
            stream = agent.run(prompt, stream=True, session=session)
            async for update in stream:
                if update.text:
                    ran.pieces.append(update.text)
            ran.answer = (await stream.get_final_response()).text
        ran.stored = read_stored(session)
        return ran

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        """An agent as a tool of another."""
        ran, client = Ran(), ScriptedClient(script)
        inner = make_agent(hooks, ScriptedClient(helper), make_tools(ran))
        tools = [*make_tools(ran), inner.as_tool(name="helper")]
        with keep_requests(ran, client):
            ran.answer = (await make_agent(hooks, client, tools).run(prompt)).text
        return ran

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        """Approval requests of the framework, answered in a second run."""
        ran, client = Ran(), ScriptedClient(script)
        agent = make_agent(hooks, client, make_tools(ran), asks="interrupt")
        session = agent.create_session()
        with keep_requests(ran, client):
            response: AgentResponse[Any] = await agent.run(prompt, session=session)
            while response.user_input_requests:
                answers = [
                    answer_request(one, choose(one.additional_properties["amplifier"]))
                    for one in response.user_input_requests
                ]
                response = await agent.run(Message("user", answers), session=session)
            ran.answer = response.text
        return ran

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        """Tools of an MCP server that the framework starts."""
        ran, client = Ran(), ScriptedClient(script)
        with record_calls(ran.calls) as (command, *arguments):
            async with MCPStdioTool("notes", command, args=arguments) as server:
                with keep_requests(ran, client):
                    response = await make_agent(hooks, client, [server]).run(prompt)
                    ran.answer = response.text
        return ran


def answer_request(request: Any, given: Any) -> Any:
    """As an application does that knows us, or that does not."""
    if isinstance(given, bool):
        return request.to_function_approval_response(given)
    return respond(request, given)


def read_stored(session: AgentSession) -> list[str]:
    """The conversation that the framework keeps for the next turn."""
    kept = session.state.get("in_memory", {}).get("messages", [])
    return [read_all(one) for one in kept]


@contextlib.contextmanager
def keep_requests(ran: Ran, client: ScriptedClient) -> Any:
    """Put what the model was sent into the result, also of a run that fails."""
    try:
        yield
    finally:
        ran.requests += client.requests


DRIVER_CLASS = AgentFrameworkDriver
