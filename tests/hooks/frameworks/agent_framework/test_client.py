"""Hooks in front of a chat client, and so of every agent that uses it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ContextProvider,
    FunctionInvocationContext,
    InMemoryHistoryProvider,
    Message,
)
from agent_framework import function_middleware as mark

from amplifier_core import HookResult
from amplifier_hooks.frameworks.agent_framework import amplifier, amplify_client
from tests.adapters.drivers.agent_framework import ScriptedClient, make_tools, read_stored
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage, ask, call, change_input, use, wait_for_ever

DENY = HookResult(action="deny", reason="against the rules")


def prompt(text: str = "Do it.") -> list[Message]:
    """The messages of a call."""
    return [Message("user", [text])]


async def test_a_call_of_a_client_is_a_run(stage: Stage) -> None:
    """With a session, a prompt, requests, tools and an answer."""
    stage.listen("session:start", "prompt:submit", "tool:pre", "prompt:answer", "session:end")
    stage.answer("tool:pre", change_input(text="oat milk"), name="changer")
    ran = Ran()
    client = amplify_client(ScriptedClient(use(call("note", text="milk"))), stage.hooks)
    response = await client.get_response(prompt(), options={"tools": make_tools(ran)})
    assert response.text.endswith(DONE)
    assert ran.calls == [("note", {"text": "oat milk"})]
    order = ["session:start", "prompt:submit", "tool:pre", "prompt:answer", "session:end"]
    assert stage.heard.names == order


async def test_a_stream_of_a_client_is_a_run(stage: Stage) -> None:
    """Nothing is released before it is judged."""
    stage.answer("prompt:answer", DENY)
    stage.listen("session:end")
    client = amplify_client(ScriptedClient(["The PIN is 4711."]), stage.hooks)
    stream = client.get_response(prompt(), stream=True)
    pieces = [one.text async for one in stream]
    assert "against the rules" in "".join(pieces)
    assert "4711" not in "".join(pieces)
    assert "4711" not in (await stream.get_final_response()).text
    assert stage.heard.names == ["session:end"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refused_prompt_reaches_no_model(stage: Stage, stream: bool) -> None:
    """The caller reads why."""
    stage.answer("prompt:submit", DENY)
    client = amplify_client(ScriptedClient([DONE]), stage.hooks)
    if stream:
        response = await client.get_response(prompt(), stream=True).get_final_response()
    else:
        response = await client.get_response(prompt())
    assert "against the rules" in response.text
    assert client.requests == []


async def test_every_agent_with_the_client_is_governed(stage: Stage) -> None:
    """Also one that is a tool of another, which has a session of its own."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    script = [
        *use(call("helper", 1, task="Wipe."))[:1],
        *use(call("wipe", 2, path="/")),
        "Could not.",
    ]
    client = amplify_client(ScriptedClient(script), stage.hooks)
    inner: Agent[Any] = Agent(client, tools=make_tools(ran))
    outer: Agent[Any] = Agent(client, tools=[inner.as_tool(name="helper")])
    await outer.run("Do it.")
    assert ran.calls == []
    first, second = (one for one in stage.of_type("session_started"))
    assert second["body"]["parent"] == first["session"]


async def test_an_agent_with_the_same_hooks_is_judged_once(stage: Stage) -> None:
    """The agent sees more, so the client leaves it to the agent."""
    stage.listen("session:start", "prompt:submit", "tool:pre")
    hooks, ran = stage.hooks, Ran()
    client = amplify_client(ScriptedClient(use(call("note", text="a"))), hooks)
    agent: Agent[Any] = Agent(client, tools=make_tools(ran), middleware=[amplifier(hooks)])
    await agent.run("Do it.")
    assert stage.heard.names == ["session:start", "prompt:submit", "tool:pre"]


async def test_hooks_come_after_all_other_middleware(stage: Stage) -> None:
    """That of the client, of the agent and of the call."""

    @mark
    async def change(context: FunctionInvocationContext, call_next: Any) -> None:
        context.arguments = {"text": f"{context.arguments['text']}!"}  # type: ignore[index]
        await call_next()

    stage.listen("tool:pre")
    ran, script = Ran(), use(call("note", text="a"))
    client = amplify_client(ScriptedClient(script, middleware=[change]), stage.hooks)
    options: Any = {"tools": make_tools(ran)}
    more: dict[str, Any] = {"client_kwargs": {"middleware": [change]}, "middleware": [change]}
    await client.get_response(prompt(), options=options, **more)
    assert stage.heard.events[0][1]["tool_input"] == {"text": "a!!!"}
    assert ran.calls == [("note", {"text": "a!!!"})]


@pytest.mark.parametrize("both", [False, True])
async def test_hooks_come_after_the_middleware_of_context_providers(
    stage: Stage, both: bool
) -> None:
    """Which the framework puts after that of the agent."""

    @mark
    async def change(context: FunctionInvocationContext, call_next: Any) -> None:
        context.arguments = {"path": "/tmp/777"}
        await call_next()

    class Adding(ContextProvider):
        async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
            context.extend_middleware(self.source_id, change)

    stage.listen("tool:pre")
    ran = Ran()
    hooks = stage.hooks
    client = amplify_client(ScriptedClient(use(call("wipe", path="/tmp/0"))), hooks)
    agent: Agent[Any] = Agent(client, tools=make_tools(ran), context_providers=[Adding("adding")])
    await agent.run("Do it.", middleware=[amplifier(hooks)] if both else [])
    assert stage.heard.names == ["tool:pre"]
    assert stage.heard.events[0][1]["tool_input"] == {"path": "/tmp/777"}
    assert ran.calls == [("wipe", {"path": "/tmp/777"})]


async def test_a_history_of_each_model_call_has_what_hooks_left(stage: Stage) -> None:
    """The framework stores the reply before the agent gets it."""
    stage.answer("provider:response", DENY)
    hooks = stage.hooks
    client = amplify_client(ScriptedClient(["The PIN is 4711."]), hooks)
    agent: Agent[Any] = Agent(
        client,
        context_providers=[InMemoryHistoryProvider()],
        middleware=[amplifier(hooks)],
        require_per_service_call_history_persistence=True,
    )
    session = agent.create_session()
    await agent.run("Hello.", session=session)
    assert "against the rules" in str(read_stored(session))
    assert "4711" not in str(read_stored(session))


async def test_a_cancelled_call_ends_its_session(stage: Stage) -> None:
    """While a person thinks, for example."""
    stage.answer("tool:pre", ask())
    stage.ask_person(wait_for_ever)
    stage.listen("session:end")
    client = amplify_client(ScriptedClient(use(call("note", text="a"))), stage.hooks)
    work = client.get_response(prompt(), options={"tools": make_tools(Ran())})
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(work, 0.3)
    assert stage.heard.events[0][1]["reason"] == "user_exit"


async def test_a_client_is_written_to_disk_as_before(stage: Stage) -> None:
    """Hooks are none of its settings."""
    plain, governed = ScriptedClient([DONE]), amplify_client(ScriptedClient([DONE]), stage.hooks)
    assert governed.to_dict() == plain.to_dict()
    assert type(governed).__name__ == "ScriptedClient"
    assert isinstance(governed, ScriptedClient)


def test_hooks_are_put_in_front_of_a_client_once(stage: Stage) -> None:
    """A second time would hide the first."""
    client = amplify_client(ScriptedClient([DONE]), stage.hooks)
    with pytest.raises(ValueError, match="has hooks already"):
        amplify_client(client, stage.hooks)


def test_a_client_that_runs_no_middleware_is_refused(stage: Stage) -> None:
    """The message says what to derive it from."""

    class Bare(BaseChatClient):
        def _inner_get_response(self, **given: Any) -> Any:
            raise AssertionError

    with pytest.raises(TypeError, match=r"Bare.*FunctionInvocationLayer"):
        amplify_client(Bare(), stage.hooks)
