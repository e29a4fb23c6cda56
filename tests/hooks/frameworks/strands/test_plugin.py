"""The plugin of an agent, and its stage at the model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("strands")

from pydantic import BaseModel
from strands import Agent, tool
from strands.hooks import AfterModelCallEvent, BeforeInvocationEvent
from strands.multiagent import GraphBuilder, Swarm

from amplifier_core import HookResult
from amplifier_core.errors import SessionDenied
from amplifier_hooks.frameworks.strands import AmplifierHooks
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.strands import make_agent, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, use

DENY = HookResult(action="deny", reason="against the rules")
WIPE: list[Step] = use(call("wipe", path="/tmp/x"))


@pytest.mark.parametrize("place", ["plugins", "hooks"])
async def test_an_agent_takes_it_as_a_plugin_and_as_hooks(stage: Stage, place: str) -> None:
    """Both ways of the framework cover tools and models."""
    stage.answer("tool:pre", DENY)
    stage.listen("provider:request")
    ran = Ran()
    agent = make_agent(ran, WIPE, **{place: [AmplifierHooks(stage.hooks)]})
    await agent.invoke_async("Do it.")
    assert ran.calls == []
    assert stage.heard.names == ["provider:request"] * 2


async def test_hooks_are_added_to_an_agent_that_exists(stage: Stage) -> None:
    """Its next invocation is governed."""
    stage.answer("tool:pre", DENY)
    ran = Ran()
    agent = make_agent(ran, WIPE)
    agent.hooks.add_hook(AmplifierHooks(stage.hooks))
    await agent.invoke_async("Do it.")
    assert ran.calls == []
    assert len(stage.of_type("session_started")) == 1


async def test_a_plugin_that_is_given_twice_judges_once(stage: Stage) -> None:
    """As a plugin and as hooks of the same agent."""
    stage.listen("tool:pre", "provider:request", "prompt:submit")
    both = AmplifierHooks(stage.hooks)
    agent = make_agent(Ran(), WIPE, plugins=[both], hooks=[both])
    await agent.invoke_async("Do it.")
    assert stage.heard.names == [
        "prompt:submit",
        "provider:request",
        "tool:pre",
        "provider:request",
    ]


async def test_two_agents_share_one_plugin(stage: Stage) -> None:
    """Each run has its own session."""
    shared = AmplifierHooks(stage.hooks)
    stage.answer("tool:pre", DENY)
    first, second = Ran(), Ran()
    agents = [make_agent(one, list(WIPE), plugins=[shared]) for one in (first, second)]
    await asyncio.gather(*(agent.invoke_async("Do it.") for agent in agents))
    assert first.calls == second.calls == []
    assert len(stage.of_type("session_ended")) == 2


async def test_the_agents_of_a_graph_are_governed(stage: Stage) -> None:
    """The hooks of a graph reach each of its agents."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran, second = Ran(), Ran()
    second.calls = ran.calls
    builder = GraphBuilder()
    builder.add_node(make_agent(ran, WIPE, name="first"), "first")
    builder.add_node(make_agent(second, WIPE, name="second"), "second")
    builder.add_edge("first", "second")
    builder.set_plugins([AmplifierHooks(stage.hooks)])
    await builder.build().invoke_async("Do it.")
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]
    assert "against the rules" in second.requests[-1]


async def test_a_graph_in_a_graph_is_governed(stage: Stage) -> None:
    """However deep an agent stands."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    inner = GraphBuilder()
    inner.add_node(make_agent(ran, WIPE, name="deep"), "deep")
    outer = GraphBuilder()
    outer.add_node(inner.build(), "inner")
    outer.set_plugins([AmplifierHooks(stage.hooks)])
    await outer.build().invoke_async("Do it.")
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]


async def test_the_agents_of_a_swarm_are_governed(stage: Stage) -> None:
    """Also the one that a hand-off reaches; the hand-off is a tool call."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("tool:post")
    ran, second = Ran(), Ran()
    second.calls = ran.calls
    hand_off: list[Step] = [
        [call("handoff_to_agent", agent_name="second", message="Go on.")],
        DONE,
    ]
    agents = [make_agent(ran, hand_off, name="first"), make_agent(second, WIPE, name="second")]
    swarm = Swarm(agents, plugins=[AmplifierHooks(stage.hooks)])
    await swarm.invoke_async("Do it.")
    assert ran.calls == []
    assert "against the rules" in second.requests[-1]
    assert stage.heard.events[0][1]["tool_name"] == "handoff_to_agent"


async def test_a_sub_agent_has_a_session_of_its_own(stage: Stage) -> None:
    """With the session of its caller as the parent."""
    inner = make_agent(Ran(), [DONE], name="helper", description="Helps.")
    script = use(call("helper", input="Help."))
    agent = make_agent(Ran(), script, tools=[inner], plugins=[AmplifierHooks(stage.hooks)])
    await agent.invoke_async("Do it.")
    first, second = stage.of_type("session_started")
    assert first["body"]["parent"] is None
    assert second["body"]["parent"] == first["session"]


async def test_a_sub_agent_with_hooks_of_its_own_keeps_them(stage: Stage) -> None:
    """It is judged by those, and not twice."""
    other = Stage()
    other.answer("tool:pre", DENY, tool="wipe")
    stage.listen("tool:pre")
    ran = Ran()
    inner = make_agent(
        ran, WIPE, name="helper", description="Helps.", plugins=[AmplifierHooks(other.hooks)]
    )
    script = use(call("helper", input="Help."))
    agent = make_agent(Ran(), script, tools=[inner], plugins=[AmplifierHooks(stage.hooks)])
    await agent.invoke_async("Do it.")
    other.close()
    assert ran.calls == []
    assert [data["tool_name"] for _, data in stage.heard.events] == ["helper"]


async def test_agents_that_have_one_another_as_tools_are_governed(stage: Stage) -> None:
    """Attaching comes to an end."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    first = make_agent(ran, WIPE, name="first", description="The first.")
    second = make_agent(Ran(), [DONE], name="second", description="The second.", tools=[first])
    first.tool_registry.process_tools([second])
    AmplifierHooks(stage.hooks).attach(second)
    await first.invoke_async("Do it.")
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]


async def test_an_agent_that_a_tool_starts_is_a_sub_agent(stage: Stage) -> None:
    """With hooks of the same governor, also where the tool calls it synchronously."""
    stage.answer("tool:pre", DENY, tool="wipe")
    hooks, ran = stage.hooks, Ran()

    @tool
    def delegate(task: str) -> str:
        """Have somebody else do it."""
        return str(make_agent(ran, WIPE, plugins=[AmplifierHooks(hooks)])(task))

    script = use(call("delegate", task="Help."))
    agent = make_agent(Ran(), script, tools=[delegate], plugins=[AmplifierHooks(hooks)])
    await asyncio.wait_for(agent.invoke_async("Do it."), 60)
    assert ran.calls == []
    first, second = stage.of_type("session_started")
    assert second["body"]["parent"] == first["session"]


async def test_a_tool_that_is_added_later_is_governed(stage: Stage) -> None:
    """An agent may load tools, and agents, while it lives."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    inner = make_agent(ran, WIPE, name="helper", description="Helps.")
    script = use(call("helper", input="Help."))
    agent = make_agent(Ran(), script, tools=[], plugins=[AmplifierHooks(stage.hooks)])
    agent.tool_registry.process_tools([inner])
    await agent.invoke_async("Do it.")
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]


async def test_a_denied_prompt_is_not_in_the_conversation(stage: Stage) -> None:
    """The agent never reads it, not even in the next turn."""
    stage.answer("prompt:submit", lambda data: DENY if "4711" in data["prompt"] else HookResult())
    ran = Ran()
    agent = make_agent(ran, [DONE], plugins=[AmplifierHooks(stage.hooks)])
    refused = await agent.invoke_async("My PIN is 4711.")
    assert "against the rules" in str(refused)
    await agent.invoke_async("Hello.")
    assert "4711" not in ran.requests[0]


async def test_a_refused_start_ends_the_run(stage: Stage) -> None:
    """With a prompt and without one."""
    stage.answer("session:start", DENY)
    ran = Ran()
    agent = make_agent(ran, [DONE], plugins=[AmplifierHooks(stage.hooks)])
    assert "against the rules" in str(await agent.invoke_async("Hello."))
    agent.messages.append({"role": "user", "content": [{"text": "Hello."}]})
    assert "against the rules" in str(await agent.invoke_async())
    assert ran.requests == []


async def test_hooks_see_the_prompt_that_others_made(stage: Stage) -> None:
    """Other callbacks of the framework come first."""
    stage.listen("prompt:submit")

    def change(event: BeforeInvocationEvent) -> None:
        event.messages = [{"role": "user", "content": [{"text": "Changed."}]}]

    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)], hooks=[change])
    await agent.invoke_async("Hello.")
    assert stage.heard.events[0][1]["prompt"] == "Changed."


async def test_a_prompt_of_several_messages_is_changed_as_one(stage: Stage) -> None:
    """What hooks leave stands in the place of the first text; images stay."""
    rewrite = lambda data: HookResult(action="modify", data={**data, "prompt": "Short."})  # noqa: E731
    stage.answer("prompt:submit", rewrite)
    ran = Ran()
    agent = make_agent(ran, [DONE], plugins=[AmplifierHooks(stage.hooks)])
    image = {"image": {"format": "png", "source": {"bytes": b"x"}}}
    await agent.invoke_async([{"text": "A long"}, image, {"text": " prompt."}])
    assert "Short." in ran.requests[0]
    assert "image" in ran.requests[0]
    assert "long" not in ran.requests[0]


async def test_a_run_that_fails_ends_with_an_error(stage: Stage) -> None:
    """The exception is the framework's own."""
    stage.listen("session:end")
    agent = make_agent(Ran(), [], plugins=[AmplifierHooks(stage.hooks)])
    with pytest.raises(IndexError):
        await agent.invoke_async("Do it.")
    assert stage.heard.events[0][1]["reason"] == "error"


async def test_a_stream_that_nobody_reads_to_the_end_is_ended(stage: Stage) -> None:
    """The session is over when the stream is closed."""
    stage.listen("session:end")
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)])
    stream = agent.stream_async("Do it.")
    async for event in stream:
        if "data" in event:
            break
    await stream.aclose()
    assert stage.heard.events[0][1]["reason"] == "user_exit"


async def test_an_agent_that_is_stopped_while_a_person_thinks_runs_nothing(stage: Stage) -> None:
    """A yes that comes after `cancel()` is about nothing."""
    agents: list[Agent] = []

    async def think(_: object) -> str:
        agents[0].cancel()
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    stage.ask_person(think)
    ran = Ran()
    agents.append(make_agent(ran, WIPE, plugins=[AmplifierHooks(stage.hooks)]))
    result = await agents[0].invoke_async("Do it.")
    assert ran.calls == []
    assert result.stop_reason == "cancelled"
    assert stage.heard.events[0][1]["reason"] == "user_exit"


@pytest.mark.parametrize(
    ("options", "choices"),
    [({"asks": "email"}, "inline, interrupt"), ({"streams": "slowly"}, "live, held")],
)
def test_an_unknown_option_is_refused(stage: Stage, options: Any, choices: str) -> None:
    """The message says what would do."""
    with pytest.raises(ValueError, match=choices):
        AmplifierHooks(stage.hooks, **options)


def test_a_plugin_adds_no_tools(stage: Stage) -> None:
    """An agent has the tools that it was given."""
    agent = make_agent(Ran(), [], tools=make_tools(Ran()), plugins=[AmplifierHooks(stage.hooks)])
    assert set(agent.tool_names) == {"note", "wipe", "boom"}


async def read_stream(agent: Any) -> tuple[list[str], str]:
    """The pieces and the answer."""
    pieces, answer = [], ""
    async for event in agent.stream_async("Do it."):
        if "data" in event:
            pieces.append(event["data"])
        if "result" in event:
            answer = str(event["result"])
    return pieces, answer.removesuffix("\n")


@pytest.mark.parametrize("event", ["provider:response", "prompt:answer"])
async def test_held_text_goes_out_only_when_it_is_allowed(stage: Stage, event: str) -> None:
    """A reply or an answer that hooks refuse is read by nobody."""
    stage.answer(event, DENY)
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks, streams="held")])
    pieces, answer = await read_stream(agent)
    assert pieces == []
    assert "against the rules" in answer


async def test_held_text_still_comes_in_pieces(stage: Stage) -> None:
    """The caller gets the same events, later."""
    stage.listen("prompt:answer")
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks, streams="held")])
    pieces, answer = await read_stream(agent)
    assert pieces == ["All ", "done."]
    assert answer == DONE
    assert stage.heard.events[0][1]["streamed"] is False


async def test_live_text_is_called_streamed(stage: Stage) -> None:
    """Hooks are told that somebody may have read it."""
    stage.listen("prompt:answer")
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)])
    await read_stream(agent)
    assert stage.heard.events[0][1]["streamed"] is True


async def test_a_changed_answer_is_what_the_agent_keeps(stage: Stage) -> None:
    """The next turn builds on it."""
    rewrite = lambda data: HookResult(action="modify", data={**data, "response": "Nearly."})  # noqa: E731
    stage.answer("prompt:answer", rewrite)
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)])
    result = await agent.invoke_async("Do it.")
    assert str(result) == "Nearly.\n"
    assert agent.messages[-1]["content"] == [{"text": "Nearly."}]


async def test_a_reply_is_handed_on_as_it_came(stage: Stage) -> None:
    """Hooks that say continue leave the framework its own message, and what it cost."""
    stage.listen("provider:response")
    seen: list[Any] = []
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)])
    agent.hooks.add_callback(AfterModelCallEvent, lambda event: seen.append(event.stop_response))
    result = await agent.invoke_async("Do it.")
    assert seen[0].message is result.message
    heard = stage.heard.events[0][1]
    assert heard["usage"]["input_tokens"] == 7
    assert heard["model"] == "scripted-1"


async def test_what_hooks_add_joins_the_message_before_it(stage: Stage) -> None:
    """Some models want users and assistants to take turns."""
    stage.answer(
        "tool:post",
        HookResult(action="inject_context", context_injection="Lint: line 3", ephemeral=True),
    )
    ran = Ran()
    sent: list[Any] = []
    agent = make_agent(ran, use(call("note", text="a")), plugins=[AmplifierHooks(stage.hooks)])
    stream = agent.model.stream

    def keep(messages: Any, *rest: Any, **more: Any) -> Any:
        sent.append(messages)
        return stream(messages, *rest, **more)

    agent.model.stream = keep
    await agent.invoke_async("Do it.")
    assert [one["role"] for one in sent[1]] == ["user", "assistant", "user"]
    assert list(sent[1][2]["content"][0]) == ["toolResult"]
    assert sent[1][2]["content"][1] == {"text": "Lint: line 3"}
    assert "Lint" not in str(agent.messages)


class Weather(BaseModel):
    """A structured answer."""

    city: str


async def test_a_structured_answer_is_a_tool_call(stage: Stage) -> None:
    """The framework has the model call a tool for it, which hooks see."""
    stage.listen("tool:pre")
    agent = make_agent(
        Ran(), use(call("Weather", city="Bern")), plugins=[AmplifierHooks(stage.hooks)]
    )
    result = await agent.invoke_async("Do it.", structured_output_model=Weather)
    assert result.structured_output == Weather(city="Bern")
    assert [data["tool_name"] for _, data in stage.heard.events] == ["Weather"]


async def answer_weather(*_: Any, **__: Any) -> Any:
    """What a model does in the older way to a structured answer."""
    yield {"output": Weather(city="Bern")}


async def test_a_session_ends_with_the_older_way_to_a_structured_answer(stage: Stage) -> None:
    """It shows only its start and its end."""
    stage.listen("session:start", "prompt:submit", "provider:request", "session:end")
    agent: Any = make_agent(Ran(), [], plugins=[AmplifierHooks(stage.hooks)])
    agent.model.structured_output = answer_weather
    assert await agent.structured_output_async(Weather, "Do it.") == Weather(city="Bern")
    assert stage.heard.names == ["session:start", "session:end"]


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request", "provider:response"])
async def test_a_guard_stops_the_older_way_to_a_structured_answer(stage: Stage, event: str) -> None:
    """It would go past the guard."""
    stage.answer(event, HookResult(), name="gatekeeper", on_error="deny")
    stage.listen("session:end")
    agent: Any = make_agent(Ran(), [], plugins=[AmplifierHooks(stage.hooks)])
    agent.model.structured_output = answer_weather
    with pytest.raises(SessionDenied, match=r"gatekeeper.*structured_output_model"):
        await agent.structured_output_async(Weather, "Do it.")
    assert stage.heard.names == ["session:end"]


async def test_a_refused_start_stops_the_older_way_to_a_structured_answer(stage: Stage) -> None:
    """The framework itself would go on."""
    stage.answer("session:start", DENY)
    agent: Any = make_agent(Ran(), [], plugins=[AmplifierHooks(stage.hooks)])
    agent.model.structured_output = answer_weather
    with pytest.raises(SessionDenied, match="against the rules"):
        await agent.structured_output_async(Weather, "Do it.")


HELP: list[Step] = use(call("helper", task="Clean up."))


@pytest.mark.parametrize("way", ["await", "call", "stream"])
async def test_an_agent_that_a_tool_makes_is_governed(stage: Stage, way: str) -> None:
    """What its caller may not do, it may not do either, however the tool starts it."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:start", "session:end")
    ran = Ran()

    async def work(agent: Agent, task: str) -> str:
        if way == "await":
            return str(await agent.invoke_async(task))
        return str([event async for event in agent.stream_async(task)][-1]["result"])

    @tool(name="helper")
    async def helper(task: str) -> str:
        """Have somebody else do it."""
        return await work(make_agent(ran, WIPE), task)

    @tool(name="helper")
    def helper_in_a_thread(task: str) -> str:
        """Have somebody else do it."""
        return str(make_agent(ran, WIPE)(task))

    chosen = helper_in_a_thread if way == "call" else helper
    plugin = AmplifierHooks(stage.hooks)
    await make_agent(Ran(), HELP, tools=[chosen], plugins=[plugin]).invoke_async("Do it.")
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]
    assert stage.heard.names == ["session:start", "session:start", "session:end", "session:end"]
    assert stage.heard.events[1][1]["parent_id"] == stage.heard.events[0][1]["session_id"]


async def test_an_agent_that_no_governed_tool_starts_is_left_alone(stage: Stage) -> None:
    """Nobody has asked for it."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    AmplifierHooks(stage.hooks)
    await make_agent(ran, WIPE).invoke_async("Do it.")
    assert len(ran.calls) == 1


async def test_an_agent_in_a_tool_that_has_the_hooks_is_judged_once(stage: Stage) -> None:
    """They are not attached a second time."""
    stage.listen("tool:pre")
    ran, hooks = Ran(), stage.hooks

    @tool
    async def helper(task: str) -> str:
        """Have somebody else do it."""
        agent = make_agent(ran, WIPE, plugins=[AmplifierHooks(hooks)])
        return str(await agent.invoke_async(task))

    plugin = AmplifierHooks(hooks)
    await make_agent(Ran(), HELP, tools=[helper], plugins=[plugin]).invoke_async("Do it.")
    assert [data["tool_name"] for _, data in stage.heard.events] == ["helper", "wipe"]


async def test_the_older_way_to_a_structured_answer_is_stopped_in_a_tool_too(stage: Stage) -> None:
    """A guard of the caller could not see it."""
    stage.answer("provider:request", HookResult(), name="gatekeeper", on_error="deny")
    ran = Ran()

    @tool
    async def helper(task: str) -> str:
        """Have somebody else do it."""
        agent: Any = make_agent(ran, [])
        agent.model.structured_output = answer_weather
        return str(await agent.structured_output_async(Weather, task))

    outer = Ran()
    plugin = AmplifierHooks(stage.hooks)
    await make_agent(outer, HELP, tools=[helper], plugins=[plugin]).invoke_async("Do it.")
    assert "gatekeeper" in outer.requests[-1]
