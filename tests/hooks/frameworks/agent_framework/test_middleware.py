"""What a program puts in front of its agents and clients."""

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
    Content,
    ContextProvider,
    FunctionInvocationContext,
    InMemoryHistoryProvider,
    Message,
    MiddlewareException,
    MiddlewareFailure,
    MiddlewareTermination,
    SessionContext,
)
from agent_framework import function_middleware as mark

from amplifier_core import HookResult
from amplifier_hooks.coverage import AGENT_FRAMEWORK
from amplifier_hooks.frameworks.agent_framework import (
    AmplifierMiddleware,
    amplifier,
    amplify_client,
)
from amplifier_hooks.frameworks.agent_framework.messages import say_as_agent
from amplifier_hooks.frameworks.agent_framework.middleware import (
    Turn,
    is_governed,
    is_waiting,
    name_end,
    put_last,
)
from tests.adapters.drivers.agent_framework import (
    ScriptedClient,
    make_agent,
    make_tools,
    read_stored,
)
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.stage import DONE, Stage, ask, call, change_input, use, wait_for_ever

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
    from agent_framework import function_middleware

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


async def test_ours_comes_after_all_other_middleware(stage: Stage) -> None:
    """However the others were given, and only a run of the same hooks is governed already."""
    hooks = stage.hooks
    turn = Turn(await hooks.open(AGENT_FRAMEWORK), "inline")
    before: Any = [object()]
    added = turn.add_to(before)
    assert added[0] is before[0]
    assert len(added) == 3
    assert [turn.add_to(one)[:-2] for one in (None, before[0])] == [[], before]
    assert is_governed(added, hooks)
    assert not is_governed(added, stage.hooks)
    assert not is_governed(before, hooks)
    later = object()
    assert put_last([*added, later]) == [before[0], later, *added[1:]]


async def test_an_answer_without_a_last_reply_is_judged(stage: Stage) -> None:
    """Other middleware may have given it."""
    stage.answer("prompt:answer", HookResult(action="deny", reason="against the rules"))
    turn = Turn(await stage.hooks.open(AGENT_FRAMEWORK), "inline")
    assert "against the rules" in (await turn.complete(say_as_agent("Hi.")) or "")


async def test_a_turn_that_waits_has_no_answer(stage: Stage) -> None:
    """It goes on with what somebody decides."""
    stage.listen("prompt:answer")
    turn = Turn(await stage.hooks.open(AGENT_FRAMEWORK), "inline")
    call = Content.from_function_call("c", "wipe", arguments={}, id="o")
    asking = Content.from_function_approval_request("o", call)
    waiting: Any = AgentResponse(messages=[Message("assistant", [asking])])
    assert is_waiting(waiting)
    assert await turn.complete(waiting) is None
    assert stage.heard.names == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (None, "complete"),
        (asyncio.CancelledError(), "user_exit"),
        (GeneratorExit(), "user_exit"),
        (TimeoutError(), "timeout"),
        (OSError(), "error"),
    ],
)
def test_an_end_has_a_reason(error: BaseException | None, reason: str) -> None:
    """Hooks and the trail get it."""
    assert name_end(error) == reason


@pytest.mark.parametrize("is_tool", [True, False])
async def test_an_agent_without_hooks_in_a_tool_is_governed(stage: Stage, is_tool: bool) -> None:
    """What its caller may not do, it may not do either; by itself it does as before."""
    stage.answer("tool:pre", HookResult(action="deny", reason="not on my machine"), tool="wipe")
    stage.listen("session:start", "session:end")
    ran = Ran()
    wipe: list[Step] = use(call("wipe", 2, path="/tmp/x"))
    client = ScriptedClient([*wipe, *wipe])
    inner = Agent(client=client, tools=make_tools(ran), name="cleaner")

    async def helper(task: str) -> str:
        """Have somebody else do it."""
        return (await inner.run(task)).text

    tool = inner.as_tool(name="helper") if is_tool else helper
    outer = ScriptedClient(use(call("helper", 1, task="Clean up.")))
    await make_agent(stage.hooks, outer, [tool]).run("Do it.")
    assert ran.calls == []
    assert "not on my machine" in client.requests[-1]
    assert stage.heard.names == ["session:start", "session:start", "session:end", "session:end"]
    assert stage.heard.events[1][1]["parent_id"] == stage.heard.events[0][1]["session_id"]
    await inner.run("Do it.")
    assert len(ran.calls) == 1
