"""The middleware on the real framework: what is particular to its agents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    AgentContext,
    AgentMiddleware,
    AgentResponse,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ContextProvider,
    Message,
    MiddlewareException,
    MiddlewareFailure,
    MiddlewareTermination,
    SessionContext,
)

from amplifier_core import HookResult
from amplifier_hooks.frameworks.agent_framework import AmplifierMiddleware, amplifier
from tests.adapters.drivers.agent_framework import (
    ScriptedClient,
    make_agent,
    make_tools,
    read_stored,
)
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage, call, change_input, use

DENY = HookResult(action="deny", reason="against the rules")
Next = Callable[[], Awaitable[None]]


async def test_a_client_takes_no_middleware_for_agents(stage: Stage) -> None:
    """It would leave ours out and go on; so it is told at once where it belongs."""
    with pytest.raises(MiddlewareException, match="pass the bundle to the agent"):
        ScriptedClient([DONE], middleware=[amplifier(stage.hooks)])


async def test_middleware_of_one_run_is_enough(stage: Stage) -> None:
    """`agent.run(middleware=[...])` governs that run."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran, client = Ran(), ScriptedClient(use(call("wipe", path="/")))
    agent: Agent[Any] = Agent(client, tools=make_tools(ran))
    await agent.run("Do it.", middleware=[amplifier(stage.hooks)])
    assert ran.calls == []
    assert "against the rules" in client.requests[-1]


async def test_hooks_that_are_there_twice_judge_once(stage: Stage) -> None:
    """Those of the agent and those of the run may be the same."""
    stage.listen("session:start", "tool:pre", "provider:request")
    hooks, ran = stage.hooks, Ran()
    agent = make_agent(hooks, ScriptedClient(use(call("note", text="a"))), make_tools(ran))
    await agent.run("Do it.", middleware=[amplifier(hooks)])
    wanted = ["session:start", "provider:request", "tool:pre", "provider:request"]
    assert stage.heard.names == wanted


async def test_an_agent_whose_client_runs_no_middleware_is_not_run(stage: Stage) -> None:
    """No hook would see what it does."""

    class Bare(BaseChatClient):
        def _inner_get_response(self, **given: Any) -> Any:
            raise AssertionError("the model was called")

    agent: Agent[Any] = Agent(Bare(), name="bare", middleware=[amplifier(stage.hooks)])
    with pytest.raises(MiddlewareFailure, match=r"'bare'.*client of type Bare"):
        await agent.run("Do it.")


def test_a_way_to_ask_that_there_is_not_is_refused(stage: Stage) -> None:
    """The message names the ways that there are."""
    with pytest.raises(ValueError, match="inline, interrupt"):
        AmplifierMiddleware(stage.hooks, asks="later")  # type: ignore[arg-type]


async def test_the_messages_of_the_caller_stay_as_they_are(stage: Stage) -> None:
    """A changed prompt is another message."""
    changed = {"prompt": "Buy oat milk.", "metadata": {}}
    stage.answer("prompt:submit", HookResult(action="modify", data=changed))
    message, client = Message("user", ["Buy milk."]), ScriptedClient([DONE])
    await make_agent(stage.hooks, client, []).run(message)
    assert message.text == "Buy milk."
    assert "Buy oat milk." in client.requests[0]


async def test_a_refused_prompt_is_not_kept(stage: Stage) -> None:
    """No later turn sends it to the model."""
    stage.answer("prompt:submit", DENY)
    session, client = AgentSession(), ScriptedClient([DONE])
    response = await make_agent(stage.hooks, client, []).run("My PIN is 4711.", session=session)
    assert "against the rules" in response.text
    assert read_stored(session) == []


async def test_a_refused_answer_is_not_kept(stage: Stage) -> None:
    """The framework keeps what the caller got."""
    stage.answer("prompt:answer", DENY)
    session, client = AgentSession(), ScriptedClient(["The PIN is 4711."])
    response = await make_agent(stage.hooks, client, []).run("Hello.", session=session)
    assert "against the rules" in response.text
    assert "4711" not in str(read_stored(session))


async def test_a_response_that_nobody_changed_is_the_frameworks_own(stage: Stage) -> None:
    """To the object that middleware before ours sees without us."""
    stage.listen("provider:response", "prompt:answer")
    replies: list[ChatResponse[Any]] = []

    class Client(ScriptedClient):
        async def _reply(self, contents: Any) -> ChatResponse[Any]:
            replies.append(await super()._reply(contents))
            return replies[-1]

    response = await make_agent(stage.hooks, Client([DONE]), []).run("Hello.")
    assert response.messages[0] is replies[0].messages[0]


async def test_hooks_judge_what_all_other_middleware_has_left(stage: Stage) -> None:
    """Wherever it is listed: that of the run comes after that of the agent."""
    from agent_framework import FunctionInvocationContext, function_middleware

    @function_middleware
    async def change(context: FunctionInvocationContext, call_next: Next) -> None:
        context.arguments = {"path": "/tmp/777"}
        await call_next()

    stage.listen("tool:pre")
    ran, client = Ran(), ScriptedClient(use(call("wipe", path="/tmp/0")))
    agent = make_agent(stage.hooks, client, make_tools(ran))
    await agent.run("Do it.", middleware=[change])
    assert stage.heard.events[0][1]["tool_input"] == {"path": "/tmp/777"}
    assert ran.calls == [("wipe", {"path": "/tmp/777"})]


async def test_what_other_middleware_answers_itself_is_judged(stage: Stage) -> None:
    """An agent middleware behind ours that ends the run early does not get around hooks."""

    class Short(AgentMiddleware):
        async def process(self, context: AgentContext, call_next: Next) -> None:
            context.result = AgentResponse(messages=[Message("assistant", ["The PIN is 4711."])])
            raise MiddlewareTermination

    stage.answer("prompt:answer", DENY)
    stage.listen("session:end")
    agent = make_agent(stage.hooks, ScriptedClient([DONE]), [])
    response = await agent.run("Hello.", middleware=[Short()])
    assert "against the rules" in response.text
    assert stage.heard.events[0][1]["reason"] == "complete"


async def test_a_run_that_fails_ends_its_session(stage: Stage) -> None:
    """With the reason."""

    class Broken(ScriptedClient):
        async def _reply(self, contents: Any) -> ChatResponse[Any]:
            raise OSError("no network")

    stage.listen("session:end")
    with pytest.raises(OSError, match="no network"):
        await make_agent(stage.hooks, Broken([DONE]), []).run("Hello.")
    assert stage.heard.events[0][1]["reason"] == "error"


@pytest.mark.parametrize("how", ["closed", "failed", "read"])
async def test_a_stream_ends_its_session(stage: Stage, how: str) -> None:
    """Read to its end, left by its reader, or broken."""

    class Client(ScriptedClient):
        async def _stream(self, contents: Any) -> Any:
            async for update in super()._stream(contents):
                yield update
            if how == "failed":
                raise OSError("no network")

    stage.listen("session:end")
    agent = make_agent(stage.hooks, Client([DONE]), [])
    try:
        async with agent.run("Hello.", stream=True) as stream:
            async for _ in stream:
                if how == "closed":
                    break
    except OSError:
        assert how == "failed"
    reasons = {"closed": "user_exit", "failed": "error", "read": "complete"}
    assert [data["reason"] for _, data in stage.heard.events] == [reasons[how]]


async def test_a_limit_of_time_ends_the_session(stage: Stage) -> None:
    """Whoever sets it."""

    class Slow(ScriptedClient):
        async def _reply(self, contents: Any) -> ChatResponse[Any]:
            await asyncio.Event().wait()
            raise AssertionError

    stage.listen("session:end")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(make_agent(stage.hooks, Slow([DONE]), []).run("Hello."), 0.2)
    assert stage.heard.events[0][1]["reason"] == "user_exit"


async def test_a_sub_agent_has_a_session_of_its_own(stage: Stage) -> None:
    """Its parent is the session of the agent that has it as a tool."""
    hooks, ran = stage.hooks, Ran()
    inner = make_agent(hooks, ScriptedClient(use(call("note", 7, text="b"))), make_tools(ran))
    outer = ScriptedClient(use(call("helper", task="Note b.")))
    await make_agent(hooks, outer, [inner.as_tool(name="helper")]).run("Do it.")
    first, second = (one for one in stage.of_type("session_started"))
    assert second["body"]["parent"] == first["session"]
    assert [one["session"] for one in stage.of_type("tool_started")] == [
        first["session"],
        second["session"],
    ]


async def test_tools_of_a_context_provider_are_governed(stage: Stage) -> None:
    """They are added when the run is prepared, after the agent was made."""
    ran, client = Ran(), ScriptedClient(use(call("note", text="a")))

    class Notes(ContextProvider):
        async def before_run(
            self, *, agent: Any, session: Any, context: SessionContext, state: Any
        ) -> None:
            context.extend_tools(self.source_id, make_tools(ran))

    stage.answer("tool:pre", change_input(text="b"))
    agent: Agent[Any] = Agent(
        client, context_providers=[Notes("notes")], middleware=[amplifier(stage.hooks)]
    )
    await agent.run("Do it.")
    assert ran.calls == [("note", {"text": "b"})]
