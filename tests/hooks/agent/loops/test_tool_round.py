"""The tool round: calls of one reply run together, and each has its result in order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import ChatRequest, ChatResponse, ImageBlock, TextBlock, ToolCall
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import EventRecorder, MockTool
from amplifier_hooks.agent.loops.loop import read_calls
from amplifier_hooks.agent.providers.scripted import ScriptedProvider
from tests.support.hooks import injects, modifies, says
from tests.support.sessions import SessionHarness, calls

LOOPS = pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])


def call_all(*names: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "input": {}} for name in names]}


class Meets(MockTool):
    """A tool that only returns when another one is running at the same time."""

    def __init__(self, name: str, mine: asyncio.Event, other: asyncio.Event) -> None:
        super().__init__(name)
        self.mine, self.other = mine, other

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.mine.set()
        async with asyncio.timeout(50):
            await self.other.wait()
        return ToolResult(output=self.name)


@LOOPS
async def test_parallel_calls_run_together_and_keep_the_models_order(loop: str) -> None:
    """Calls of one reply run at the same time; their results stand in the model's order."""
    one, two = asyncio.Event(), asyncio.Event()
    tools = [Meets("A", one, two), Meets("B", two, one)]
    async with SessionHarness(
        [call_all("A", "B"), {"text": "ok"}], tools=tools, loop=loop
    ) as harness:
        heard = harness.listen()
        assert await harness.session.execute("x") == "ok"
        assert harness.texts("tool") == ["A", "B"]
        assert len(heard.get_events("tool:pre")) == 2


async def test_calls_run_one_after_the_other_if_so_configured() -> None:
    """`parallel_tools: false` starts a call when the one before has its result."""
    running: list[str] = []

    class Alone(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            running.append(self.name)
            await asyncio.sleep(0)  # a call beside this one would run now
            assert running == [self.name]
            running.remove(self.name)
            return ToolResult(output=self.name)

    tools = [Alone(name) for name in ("A", "B", "C")]
    config = {"parallel_tools": False}
    script = [call_all("A", "B", "C"), {"text": "ok"}]
    async with SessionHarness(script, tools=tools, loop_config=config) as harness:
        await harness.session.execute("x")
        assert harness.texts("tool") == ["A", "B", "C"]


async def test_an_injection_never_stands_between_a_call_and_its_results() -> None:
    """With parallel calls every injection waits for all results."""
    tools = [MockTool(name) for name in ("A", "B", "C")]
    async with SessionHarness([call_all("A", "B", "C"), {"text": "ok"}], tools=tools) as harness:
        for event in ("tool:pre", "tool:post", "decision:tool_resolution"):
            harness.hooks.register(event, injects("note"))
        await harness.session.execute("x")
        roles = [one["role"] for one in harness.messages]
        assert roles == ["user", "assistant", *["tool"] * 3, *["system"] * 9, "assistant"]


async def test_a_result_says_whose_it_is_and_whether_it_worked() -> None:
    """The message of a result names its call and its tool."""
    tools = [MockTool("Good", "fine"), MockTool("Bad", ToolResult.failed("no"))]
    async with SessionHarness([call_all("Good", "Bad"), {"text": "ok"}], tools=tools) as harness:
        await harness.session.execute("x")
        made = [call["id"] for call in harness.messages[1]["tool_calls"]]
        results = harness.messages[2:4]
    assert [one["tool_call_id"] for one in results] == made
    assert [(one["name"], one["content"], one["metadata"]["success"]) for one in results] == [
        ("Good", "fine", True),
        ("Bad", "no", False),
    ]


async def test_a_choice_of_a_tool_is_announced() -> None:
    """Hooks hear which tool the model chose among which, before it is asked whether it may run."""
    async with SessionHarness(
        [calls("B"), {"text": "ok"}], tools=[MockTool("A"), MockTool("B")]
    ) as harness:
        heard = harness.listen()
        await harness.session.execute("x")
    names = heard.names
    ((_, data),) = heard.get_events("decision:tool_resolution")
    assert (data["available_tools"], data["selected_tool"]) == (["A", "B"], "B")
    assert names.index("decision:tool_resolution") < names.index("tool:pre")


@pytest.mark.parametrize(
    "hook",
    [modifies(selected_tool="A"), says(data={"recommended_tool": "A"})],
    ids=["modify", "recommendation"],
)
async def test_hooks_can_choose_another_tool(hook: Any) -> None:
    """decision:tool_resolution is "fired to resolve tool selection"; guards judge what will run."""
    tools = [MockTool("A", "from A"), MockTool("B")]
    async with SessionHarness([calls("B", word="x"), {"text": "ok"}], tools=tools) as harness:
        harness.hooks.register("decision:tool_resolution", hook)
        heard = harness.listen()
        await harness.session.execute("x")
        (result,) = [one for one in harness.messages if one["role"] == "tool"]
    assert (result["content"], tools[0].calls, tools[1].calls) == ("from A", [{"word": "x"}], [])
    ((_, judged),) = heard.get_events("tool:pre")
    assert judged["tool_name"] == "A"


async def test_hooks_can_veto_one_of_the_models_calls() -> None:
    """A deny of decision:tool_resolution: that call is not run, the others are."""

    async def veto(event: str, data: dict[str, Any]) -> HookResult:
        wanted = data["selected_tool"] == "B"
        return HookResult(action="deny" if wanted else "continue", reason="not that one")

    tools = [MockTool("A", "from A"), MockTool("B")]
    async with SessionHarness([call_all("A", "B"), {"text": "ok"}], tools=tools) as harness:
        harness.hooks.register("decision:tool_resolution", veto, name="chooser")
        await harness.session.execute("x")
        results = [one["content"] for one in harness.messages if one["role"] == "tool"]
    assert results == ["from A", "Operation denied by chooser: not that one"]
    assert tools[1].calls == []


async def test_a_stop_before_a_call_leaves_it_undone() -> None:
    """A call that was not begun when the user asked to stop is not begun any more."""
    async with SessionHarness(
        [call_all("A", "B")], loop_config={"parallel_tools": False}
    ) as harness:

        class Stops(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                await harness.coordinator.request_cancel()
                return ToolResult(output="stopping")

        second = MockTool("B")
        await harness.coordinator.mount("tools", Stops("A"))
        await harness.coordinator.mount("tools", second)
        await harness.session.execute("x")
        assert harness.texts("tool") == [
            "stopping",
            "The call was not run: the user asked to stop.",
        ]
        assert second.calls == []


async def test_unreadable_arguments_are_told_to_the_model() -> None:
    """Malformed arguments are a result that the agent reads, not a crash."""
    broken = {"name": "Echo", "arguments": "{not json"}
    script: list[dict[str, Any]] = [{"tool_calls": [broken]}, {"text": "sorry"}]
    async with SessionHarness(script, tools=[MockTool("Echo")]) as harness:
        assert await harness.session.execute("x") == "sorry"
        assert harness.tools["Echo"].calls == []
        assert harness.messages[2]["metadata"]["success"] is False
        assert "parse_error" in harness.messages[1]["tool_calls"][0]


async def test_a_long_result_is_cut_at_the_limit_of_the_plan() -> None:
    """`session.tool_result_limit` holds for what goes into the conversation."""
    async with SessionHarness(
        [calls("Long"), {"text": "ok"}],
        tools=[MockTool("Long", "x" * 5000)],
        session={"tool_result_limit": 100},
    ) as harness:
        await harness.session.execute("x")
        assert "4900 of 5000 characters are left out" in harness.texts("tool")[0]


async def test_a_denied_call_says_so_to_the_model() -> None:
    """The agent reads who denied its call and why."""
    async with SessionHarness([calls("Echo"), {"text": "ok"}], tools=[MockTool("Echo")]) as harness:
        harness.hooks.register("tool:pre", says("deny", reason="not today"), name="guard")
        heard = EventRecorder()
        harness.hooks.register("tool:post", heard)
        await harness.session.execute("x")
        assert harness.texts("tool") == ["Operation denied by guard: not today"]
    assert heard.events == []


# Ids


@given(st.lists(st.sampled_from(["", "a", "b", "call"]), max_size=6))
def test_every_call_has_an_id_of_its_own(ids: list[str]) -> None:
    """Small models repeat ids or leave them out; the first of each keeps its own."""
    made = [ToolCall(id=one, name=f"T{n}", arguments={}) for n, one in enumerate(ids)]
    found = read_calls(ScriptedProvider([]), ChatResponse(content=[], tool_calls=made or None))
    assert len({call.id for call in found}) == len(ids)
    assert all(call.id for call in found)
    assert [call.name for call in found] == [call.name for call in made]
    for one in set(ids) - {""}:
        assert found[ids.index(one)].id == one


def test_a_provider_need_not_parse_calls() -> None:
    """Without `parse_tool_calls` the calls of the response are taken as they are."""
    response = ChatResponse(content=[], tool_calls=[ToolCall(id="a", name="T", arguments={})])
    bare: Any = object()
    assert [call.id for call in read_calls(bare, response)] == ["a"]
    assert read_calls(bare, ChatResponse(content=[])) == []


def test_the_calls_are_a_list_of_their_own() -> None:
    """A provider may use its list again while they run."""
    reply = ChatResponse(content=[], tool_calls=[ToolCall(id="1", name="Echo", arguments={})])
    bare: Any = object()
    found = read_calls(bare, reply)
    assert found == reply.tool_calls
    assert found is not reply.tool_calls


async def test_calls_with_the_same_id_keep_their_own_results() -> None:
    """Each result finds its call, though the model gave three calls two ids or none."""
    ids = ["", "a", "a"]
    made = [ToolCall(id=one, name="Echo", arguments={"n": n}) for n, one in enumerate(ids)]

    class Repeating:
        name = "repeating"

        async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
            if request.messages[-1].role == "tool":
                return ChatResponse(content=[TextBlock(text="done")])
            return ChatResponse(content=[], tool_calls=list(made))

    tool = MockTool("Echo", lambda given: str(given["n"]))
    async with SessionHarness([], tools=[tool]) as harness:
        await harness.coordinator.unmount("providers", "scripted")
        await harness.coordinator.mount("providers", Repeating())
        assert await harness.session.execute("x") == "done"
        found = [one["tool_call_id"] for one in harness.messages if one["role"] == "tool"]
        assert harness.texts("tool") == ["0", "1", "2"]
        assert [call["id"] for call in harness.messages[1]["tool_calls"]] == found
    assert len(set(found)) == 3


@LOOPS
async def test_a_reply_with_hundreds_of_calls_runs_a_few_at_a_time(loop: str) -> None:
    """Eight at once unless the plan says otherwise, and the results in the model's order."""
    running = most = 0

    class Counts(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return ToolResult(output=input["n"])

    many = {"tool_calls": [{"name": "Count", "input": {"n": n}} for n in range(300)]}
    async with SessionHarness(
        [many, {"text": "ok"}], tools=[Counts("Count")], loop=loop
    ) as harness:
        assert await harness.session.execute("x") == "ok"
        assert harness.texts("tool") == [str(n) for n in range(300)]
    assert most == 8


async def test_calls_that_wait_for_their_turn_are_not_run_after_a_stop() -> None:
    """A stop ends the queue; each call has a result all the same."""
    many = {"tool_calls": [{"name": "Stop", "input": {}} for _ in range(40)]}
    begun = 0

    class Stops(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            nonlocal begun
            begun += 1
            await harness.coordinator.request_cancel()
            return ToolResult(output="stopping")

    async with SessionHarness([many], tools=[Stops("Stop")]) as harness:
        await harness.session.execute("x")
        results = harness.texts("tool")
    assert 1 <= begun <= 8
    assert results.count("stopping") == begun
    assert results.count("The call was not run: the user asked to stop.") == 40 - begun


async def test_what_a_tool_raised_with_is_scrubbed() -> None:
    """No hook can change the text of an error on its way into the conversation."""

    class Raises(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            raise ValueError("hunter2 was refused")

    script = [calls("Login"), {"text": "done", "expect": "*** was refused"}]
    async with SessionHarness(script, tools=[Raises("Login")]) as harness:
        harness.coordinator.register_scrubber(lambda text: text.replace("hunter2", "***"))
        assert await harness.session.execute("x") == "done"
        assert "hunter2" not in repr(harness.messages)


PICTURE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


@LOOPS
async def test_pictures_of_a_result_reach_the_next_request(loop: str) -> None:
    """They stand in the conversation behind the text."""
    tool = MockTool("Look", ToolResult(output="A cat:", content=[ImageBlock(source=PICTURE)]))
    sent: list[Any] = []

    async def watch(event: str, data: dict[str, Any]) -> None:
        sent.append(data["messages"])

    async with SessionHarness([calls("Look"), {"text": "ok"}], tools=[tool], loop=loop) as harness:
        harness.hooks.register("provider:request", watch)
        await harness.session.execute("x")
        assert sent[-1][-1]["content"] == [
            {"type": "text", "text": "A cat:"},
            {"type": "image", "source": PICTURE},
        ]


async def test_a_result_that_a_hook_changed_has_no_pictures() -> None:
    """The hook has judged the text; what it replaced stood for all of it."""
    tool = MockTool("Look", ToolResult(output="A cat:", content=[ImageBlock(source=PICTURE)]))
    async with SessionHarness([calls("Look"), {"text": "ok"}], tools=[tool]) as harness:
        changed = {"success": True, "output": "withheld", "error": None}
        harness.hooks.register("tool:post", modifies(tool_result=changed))
        await harness.session.execute("x")
        assert harness.texts("tool") == ["withheld"]
