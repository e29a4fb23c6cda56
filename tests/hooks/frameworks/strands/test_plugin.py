"""The plugin on the real framework: how it is attached, and what it reaches."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import Agent, tool
from strands.hooks import BeforeInvocationEvent
from strands.multiagent import GraphBuilder, Swarm

from amplifier_core import HookResult
from amplifier_hooks.frameworks.strands import AmplifierHooks
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.strands import make_agent, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, use

DENY = HookResult(action="deny", reason="against the rules")
WIPE = use(call("wipe", path="/tmp/x"))


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
