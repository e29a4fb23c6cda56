"""Google's Agent Development Kit, with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
from google.genai import types
from mcp import StdioServerParameters
from pydantic import Field

from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.google_adk import AmplifierPlugin, coverage
from tests.adapters.drivers.driver import Driver, Ran, Step
from tests.support.adapter_runs.plain_mcp_server import record_calls

CONFIRMATION = "adk_request_confirmation"


class ScriptedLlm(BaseLlm):
    """Says what is in its script, and keeps what it was sent."""

    script: list[Any]
    requests: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(write_request(llm_request))
        step = self.script.pop(0)
        if stream and isinstance(step, str):
            for word in step.split(" "):
                yield LlmResponse(content=say(f"{word} "), partial=True)
        yield LlmResponse(content=say(step), model_version="scripted-1")


def say(step: Step) -> types.Content:
    """A reply of the model."""
    if isinstance(step, str):
        return types.Content(role="model", parts=[types.Part(text=step)])
    calls = [types.FunctionCall(id=one.id, name=one.name, args=one.arguments) for one in step]
    return types.Content(role="model", parts=[types.Part(function_call=call) for call in calls])


def write_request(request: LlmRequest) -> str:
    """Every role and every text of a request."""
    lines = [f"system: {request.config.system_instruction}"]
    for content in request.contents:
        for part in content.parts or ():
            said = part.text or part.function_call or part.function_response
            lines.append(f"{content.role}: {said}")
    return "\n".join(lines)


class AdkDriver(Driver):
    """Runs agents with an InMemoryRunner."""

    name = "google-adk"
    coverage = coverage()
    cannot: ClassVar[dict[str, str]] = {
        "an_input_that_the_tool_does_not_take_runs_nothing": (
            "ADK does not check the plain arguments of a function, neither those of a hook nor "
            "those of a model"
        ),
    }

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        plugin = None if hooks is None else AmplifierPlugin(hooks)
        return await _run(ran, _Agent(ran, script), plugin, prompt)

    async def run_turns(self, hooks: Governor, scripts: list[list[Step]]) -> Ran:
        ran = Ran()
        agent = _Agent(ran, [step for script in scripts for step in script])
        runner = InMemoryRunner(agent=agent.made, plugins=[AmplifierPlugin(hooks)])
        for _ in scripts:
            found = await _collect(runner, _ask("Do it."))
        ran.requests = agent.model.requests
        await runner.close()
        return _finish(ran, agent, found)

    def run_sync(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        agent = _Agent(ran, script)
        runner = InMemoryRunner(agent=agent.made, plugins=[AmplifierPlugin(hooks)])
        runner.auto_create_session = True
        found = runner.run(user_id="u", session_id="s", new_message=_ask(prompt))
        return _finish(ran, agent, list(found))

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        config = RunConfig(streaming_mode=StreamingMode.SSE)
        return await _run(ran, _Agent(ran, script), AmplifierPlugin(hooks), prompt, config)

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        inner = _Agent(ran, helper, name="helper")
        agent = _Agent(ran, script, more=[AgentTool(agent=inner.made)])
        return await _run(ran, agent, AmplifierPlugin(hooks), prompt)

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        agent = _Agent(ran, script)
        runner = InMemoryRunner(
            agent=agent.made, plugins=[AmplifierPlugin(hooks, asks="interrupt")]
        )
        message = _ask(prompt)
        while True:
            found = await _collect(runner, message)
            asked = [
                call
                for event in found
                for call in event.get_function_calls()
                if call.name == CONFIRMATION
            ]
            if not asked:
                await _keep_conversation(ran, runner)
                return _finish(ran, agent, found)
            message = types.Content(role="user", parts=[_confirm(call, choose) for call in asked])

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        with record_calls(ran.calls) as (command, *arguments):
            server = StdioServerParameters(command=command, args=arguments)
            tools = McpToolset(connection_params=StdioConnectionParams(server_params=server))
            agent = _Agent(ran, script, tools=[tools])
            return await _run(ran, agent, AmplifierPlugin(hooks), prompt)


class _Agent:
    """An agent with its scripted model."""

    def __init__(
        self,
        ran: Ran,
        script: list[Step],
        *,
        name: str = "agent",
        tools: list[Any] | None = None,
        more: list[Any] | None = None,
    ) -> None:
        self.model = ScriptedLlm(model="scripted-1", script=list(script))
        have = make_tools(ran) if tools is None else tools
        self.made = LlmAgent(
            name=name,
            model=self.model,
            description=f"The {name}.",
            instruction="You take notes.",
            tools=[*have, *(more or ())],
        )


def make_tools(ran: Ran) -> list[Any]:
    """The tools of every driver."""

    def note(text: str) -> str:
        """Note a text."""
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    async def wipe(path: str) -> str:
        """Wipe a path."""
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    def boom(text: str) -> str:
        """Fail."""
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    return [note, wipe, boom]


async def _run(
    ran: Ran,
    agent: _Agent,
    plugin: AmplifierPlugin | None,
    prompt: str,
    config: RunConfig | None = None,
) -> Ran:
    runner = InMemoryRunner(agent=agent.made, plugins=[] if plugin is None else [plugin])
    try:
        found = await _collect(runner, _ask(prompt), config)
    finally:
        ran.requests = agent.model.requests
    await _keep_conversation(ran, runner)
    await runner.close()
    return _finish(ran, agent, found)


async def _collect(
    runner: InMemoryRunner, message: types.Content, config: RunConfig | None = None
) -> list[Event]:
    runner.auto_create_session = True
    found = runner.run_async(user_id="u", session_id="s", new_message=message, run_config=config)
    return [event async for event in found]


async def _keep_conversation(ran: Ran, runner: InMemoryRunner) -> None:
    session = await runner.session_service.get_session(
        app_name=runner.app_name, user_id="u", session_id="s"
    )
    events = session.events if session else []
    ran.stored = [part.text for event in events for part in _parts(event) if part.text]


def _finish(ran: Ran, agent: _Agent, events: list[Event]) -> Ran:
    ran.requests = agent.model.requests
    texts = [(event, part.text) for event in events for part in _parts(event) if part.text]
    ran.pieces = [text for event, text in texts if event.partial]
    final = [text for event, text in texts if not event.partial]
    ran.answer = final[-1] if final else ""
    return ran


def _parts(event: Event) -> list[types.Part]:
    return (event.content.parts if event.content else None) or []


def _ask(prompt: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=prompt)])


def _confirm(call: types.FunctionCall, choose: Any) -> types.Part:
    """What an application sends back when a person has answered."""
    payload = (call.args or {})["toolConfirmation"]["payload"]
    given = choose(payload)
    own = isinstance(given, bool)
    response = {"confirmed": given} if own else {"confirmed": True, "payload": given}
    return types.Part(
        function_response=types.FunctionResponse(id=call.id, name=call.name, response=response)
    )


DRIVER_CLASS = AdkDriver
