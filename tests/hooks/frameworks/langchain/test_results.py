"""Results of tools: messages, blocks, commands, and what hooks make of them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command

from amplifier_core import HookResult
from amplifier_core.models import ToolResult
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from amplifier_hooks.frameworks.langchain.messages import change_result, read_result
from tests.adapters.drivers.langchain import make_model
from tests.adapters.stage import Stage, call, change_output, use

CALL = ToolCall(name="note", args={"text": "a"}, id="1", type="tool_call")
BLOCKS = [{"type": "text", "text": "noted"}]


def say(content: Any = "noted", **more: Any) -> ToolMessage:
    """What a tool returned."""
    return ToolMessage(content, tool_call_id="1", name="note", **more)


@pytest.mark.parametrize(
    ("value", "output", "success"),
    [
        (say(), "noted", True),
        (say(BLOCKS), BLOCKS, True),
        (say("bad", status="error"), "bad", False),
        (Command(update={"messages": [say()]}), "noted", True),
        ([Command(update={"x": 1}), say()], "noted", True),
        (Command(goto="end"), str(Command(goto="end")), True),
        (None, None, True),
    ],
)
def test_what_hooks_see_of_a_result(value: Any, output: Any, success: bool) -> None:
    """The text or the blocks that the model would read."""
    seen = read_result(value)
    assert (seen.output, seen.success) == (output, success)


def test_an_untouched_result_is_the_same_object() -> None:
    """Also one that is a command."""
    value = Command(update={"messages": [say()]})
    called = Called(ToolResult(output="noted"), value, ran=True)
    assert change_result(called, CALL) is value


def test_a_changed_result_says_the_other_thing_only() -> None:
    """What the tool returned beside its text is gone: it would tell what was removed."""
    called = Called(ToolResult(output="[removed]"), say(artifact="4711"), ran=True, changed=True)
    changed = change_result(called, CALL)
    assert isinstance(changed, ToolMessage)
    assert (changed.content, changed.artifact, changed.status) == ("[removed]", None, "success")


def test_blocks_stay_blocks() -> None:
    """As tools of an MCP server return them."""
    other = [{"type": "text", "text": "[removed]"}]
    called = Called(ToolResult(output=other), say(BLOCKS), ran=True, changed=True)
    assert change_result(called, CALL).content == other
    text = Called(ToolResult(output={"a": 1}), say(BLOCKS), ran=True, changed=True)
    assert change_result(text, CALL).content == text.text


def test_a_hook_may_make_a_failure_of_a_result() -> None:
    """And the other way round."""
    failed = Called(ToolResult(success=False, output="bad"), say(), ran=True, changed=True)
    assert change_result(failed, CALL).status == "error"
    mended = Called(ToolResult(output="ok"), say("bad", status="error"), ran=True, changed=True)
    assert change_result(mended, CALL).status == "success"


def test_a_denial_answers_the_call() -> None:
    """The model reads the reason as an error of that call."""
    called = Called(ToolResult.refused("no"))
    denied = change_result(called, CALL)
    assert (denied.content, denied.status, denied.tool_call_id) == ("no", "error", "1")
    assert denied.name == "note"


def test_the_message_in_a_command_is_changed() -> None:
    """The rest of the command does what it did; other messages stay."""
    other = ToolMessage("other", tool_call_id="2")
    command = Command(update={"messages": [say(), other], "x": 1}, goto="end")
    value = [Command(update={"y": 1}), command]
    called = Called(ToolResult(output="[removed]"), value, ran=True, changed=True)
    first, second = change_result(called, CALL)
    assert first is value[0]
    assert [one.content for one in second.update["messages"]] == ["[removed]", "other"]
    assert (second.update["x"], second.goto) == (1, "end")


async def test_a_tool_that_commands_the_graph_is_governed(stage: Stage) -> None:
    """Its update of the state is made, with the message that a hook left."""

    @tool
    def remember(text: str) -> Any:
        """Remember something."""
        return Command(update={"messages": [ToolMessage(f"kept {text}", tool_call_id="call_1")]})

    stage.answer("tool:post", change_output("kept [removed]"))
    requests: list[str] = []
    model = make_model(use(call("remember", text="4711")), requests)
    agent = create_agent(model, [remember], middleware=[AmplifierMiddleware(stage.hooks)])
    await agent.ainvoke({"messages": "Do it."})
    assert "kept [removed]" in requests[-1]
    assert "4711" not in requests[-1]


async def test_a_withheld_command_is_not_carried_out(stage: Stage) -> None:
    """Nothing of it reaches the state."""

    @tool
    def remember(text: str) -> Any:
        """Remember something."""
        return Command(update={"messages": [ToolMessage(f"kept {text}", tool_call_id="call_1")]})

    stage.answer("tool:post", HookResult(action="deny", reason="no"))
    requests: list[str] = []
    model = make_model(use(call("remember", text="4711")), requests)
    agent = create_agent(model, [remember], middleware=[AmplifierMiddleware(stage.hooks)])
    state = await agent.ainvoke({"messages": "Do it."})
    assert "kept" not in str([one.content for one in state["messages"]])
