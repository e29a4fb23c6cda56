"""Function tools: the SDK's own objects and rules, with hooks inside of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    FunctionTool,
    RunContextWrapper,
    Runner,
    ToolInputGuardrail,
    UserError,
    function_tool,
)
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool import ToolOutputText
from agents.tool_context import ToolContext
from agents.tool_guardrails import ToolGuardrailFunctionOutput
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks.openai_agents import runner as amplify
from tests.adapters.drivers.openai_agents import CONFIG, make_model, read_requests
from tests.adapters.stage import (
    DONE,
    Stage,
    ask,
    call,
    change_input,
    change_output,
    use,
    wait_for_ever,
)

DENY = HookResult(action="deny", reason="against the rules")


async def run(stage: Stage, tool: Any, *calls: Any, **options: Any) -> tuple[Any, list[str]]:
    """Run an agent with one tool; gives the result, and what the model was sent."""
    model = make_model(use(*calls))
    agent = amplify(Agent("agent", tools=[tool], model=model), stage.hooks, **options)
    return await Runner.run(agent, "Go.", run_config=CONFIG), read_requests(model)


async def test_a_result_is_the_very_object(stage: Stage) -> None:
    """Whatever a tool returns reaches the SDK as it is."""
    made = ToolOutputText(text="noted")

    @function_tool
    def note() -> ToolOutputText:
        return made

    stage.listen("tool:post")
    result, _ = await run(stage, note, call("note"))
    outputs = [one.output for one in result.new_items if one.type == "tool_call_output_item"]
    assert outputs[0] is made
    assert stage.heard.events[0][1]["tool_result"]["output"] == {"type": "text", "text": "noted"}


async def test_arguments_that_nobody_changes_are_the_very_text(stage: Stage) -> None:
    """Also where the text is not as we would write it."""
    seen: list[str] = []

    async def invoke(context: Any, raw: str) -> str:
        seen.append(raw)
        return "noted"

    tool = FunctionTool("note", "Notes.", {}, invoke, strict_json_schema=False)
    model = ScriptedModel(
        [[function_call("note", '{"text":  "a"}', call_id="1")], [assistant_message(DONE)]]
    )
    agent = amplify(Agent("agent", tools=[tool], model=model), stage.hooks)
    await Runner.run(agent, "Go.", run_config=CONFIG)
    assert seen == ['{"text":  "a"}']


async def test_what_a_tool_raises_is_told_and_handled_as_ever(stage: Stage) -> None:
    """Hooks hear the exception; the SDK has its handler make the text for the model."""

    def explain(context: Any, error: Exception) -> str:
        return f"handled {error}"

    @function_tool(failure_error_function=explain)
    def boom() -> str:
        raise RuntimeError("boom")

    stage.listen("tool:error", "tool:post")
    _, requests = await run(stage, boom, call("boom"))
    assert "handled boom" in requests[-1]
    assert stage.heard.names == ["tool:error"]
    assert stage.heard.events[0][1]["error"]["type"] == "RuntimeError"


async def test_what_a_tool_without_a_handler_raises_ends_the_run(stage: Stage) -> None:
    """As with the SDK alone."""

    @function_tool(failure_error_function=None)
    def boom() -> str:
        raise RuntimeError("boom")

    with pytest.raises(UserError, match="boom"):
        await run(stage, boom, call("boom"))


async def test_a_tool_without_the_sdks_invoker_is_governed(stage: Stage) -> None:
    """A FunctionTool made by hand; what it wants of the context, it gets."""
    seen: list[Any] = []

    async def invoke(context: RunContextWrapper[Any], raw: str) -> str:
        seen.append(type(context))
        return f"got {raw}"

    tool = FunctionTool("note", "Notes.", {"type": "object", "properties": {}}, invoke)
    stage.answer("tool:pre", change_input(text="oat milk"))
    stage.listen("tool:pre")
    _, requests = await run(stage, tool, call("note"))
    assert "oat milk" in requests[-1]
    assert seen == [RunContextWrapper]
    assert stage.heard.events[0][1]["tool_call_id"]


class Total(BaseModel):
    """What a tool returns."""

    total: int


@pytest.mark.parametrize("event", ["tool:pre", "tool:post"])
async def test_a_result_with_a_schema_is_denied_in_words(stage: Stage, event: str) -> None:
    """The schema is for results, and a reason is none."""

    @function_tool(output_json_schema=Total.model_json_schema())
    def count() -> Total:
        return Total(total=7)

    stage.answer(event, DENY)
    result, requests = await run(stage, count, call("count"))
    assert result.final_output == DONE
    assert "against the rules" in requests[-1]


async def test_a_copy_of_a_tool_is_governed_once(stage: Stage) -> None:
    """By copying, by deep copying, and in two agents."""

    @function_tool
    def note(text: str) -> str:
        return f"noted {text}"

    amplify(Agent("first", tools=[note]), stage.hooks)
    stage.listen("tool:pre")
    for tool in (copy.copy(note), copy.deepcopy(note), note):
        tool.name = "memo"
        await run(stage, tool, call("memo", text="a"))
    assert [data["tool_name"] for _, data in stage.heard.events] == ["memo"] * 3


async def test_a_tool_is_called_by_its_owner_without_hooks(stage: Stage) -> None:
    """In a test of the tool, for example: it belongs to no agent, and to no run."""

    @function_tool
    def note(text: str) -> str:
        return f"noted {text}"

    stage.answer("tool:pre", DENY)
    amplify(Agent("agent", tools=[note]), stage.hooks)
    given = ToolContext(None, tool_name="note", tool_call_id="1", tool_arguments="{}")
    assert await note.on_invoke_tool(given, '{"text": "a"}') == "noted a"


async def test_a_tool_that_is_called_for_a_governed_agent_has_its_hooks(stage: Stage) -> None:
    """Also outside of any run: the call has a session to itself, which may be refused."""

    @function_tool
    def note(text: str) -> str:
        return f"noted {text}"

    agent = amplify(Agent("agent", tools=[note]), stage.hooks)
    given = ToolContext(None, tool_name="note", tool_call_id="1", tool_arguments="{}", agent=agent)
    stage.listen("session:start", "tool:pre", "session:end")
    assert await note.on_invoke_tool(given, '{"text": "a"}') == "noted a"
    assert stage.heard.names == ["session:start", "tool:pre", "session:end"]
    stage.answer("session:start", DENY)
    assert "against the rules" in await note.on_invoke_tool(given, '{"text": "a"}')


async def test_guardrails_of_the_sdk_come_first(stage: Stage) -> None:
    """What they reject, hooks do not see; what people see is what runs."""

    async def reject(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("not with me")

    @function_tool(tool_input_guardrails=[ToolInputGuardrail(reject)])
    def note(text: str) -> str:
        return f"noted {text}"

    stage.listen("tool:pre")
    _, requests = await run(stage, note, call("note", text="a"))
    assert "not with me" in requests[-1]
    assert stage.heard.names == []


async def test_a_time_limit_of_a_tool_ends_the_question(stage: Stage) -> None:
    """The SDK counts a person's time; afterwards nothing runs."""
    ran: list[str] = []

    @function_tool(timeout=0.2)
    async def note(text: str) -> str:
        ran.append(text)
        return text

    stage.answer("tool:pre", ask())
    stage.ask_person(wait_for_ever)
    result, requests = await run(stage, note, call("note", text="a"))
    assert result.final_output == DONE
    assert "timed out" in requests[-1]
    assert ran == []


async def test_a_text_stays_a_text(stage: Stage) -> None:
    """A hook that leaves something else has it written for the model."""

    @function_tool
    def note() -> str:
        return "noted"

    @function_tool
    def count() -> dict[str, int]:
        return {"total": 7}

    stage.answer("tool:post", change_output({"a": 1}))  # type: ignore[arg-type]
    _, requests = await run(stage, note, call("note"))
    assert r'"output": "{\"a\": 1}"' in requests[-1] or r"{\"a\":1}" in requests[-1]
    _, requests = await run(stage, count, call("count"))
    assert "{'a': 1}" in requests[-1]


async def test_an_adapter_that_fails_runs_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong in us, the tool is not called unjudged."""
    ran: list[str] = []

    @function_tool
    def note(text: str) -> str:
        ran.append(text)
        return text

    def fail(*_: Any) -> Any:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("amplifier_hooks.frameworks.openai_agents.tools.name_tool", fail)
    result, _ = await run(stage, note, call("note", text="a"))
    assert result.final_output == DONE
    assert ran == []
