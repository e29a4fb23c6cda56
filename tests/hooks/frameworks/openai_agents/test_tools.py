"""Tools, executors, handoffs, and questions as interrupts."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    Handoff,
    LocalShellTool,
    RunContextWrapper,
    Runner,
    RunResult,
    RunState,
    ShellTool,
    ToolInputGuardrail,
    UserError,
    function_tool,
    handoff,
)
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool import ToolOutputText
from agents.tool_context import ToolContext
from agents.tool_guardrails import ToolGuardrailFunctionOutput
from openai.types.responses import ResponseCustomToolCall, ResponseFunctionShellToolCall
from openai.types.responses.response_output_item import LocalShellCall, LocalShellCallAction
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.openai_agents import amplify, questions, settle
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools, read_requests
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


class Editor:
    """Keeps what it was told to do."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []

    def create_file(self, operation: Any) -> str:
        self.done.append((operation.type, operation.path))
        return f"created {operation.path}"

    async def update_file(self, operation: Any) -> str:
        self.done.append((operation.type, operation.path))
        return f"updated {operation.path}"

    def delete_file(self, operation: Any) -> None:
        self.done.append((operation.type, operation.path))


class Bench:
    """One tool of each kind, each keeping what it has run, and a call of it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.done: list[Any] = []
        self.tool, self.item, self.arguments = getattr(self, f"make_{kind}")()

    def make_shell(self) -> Any:
        def execute(request: Any) -> str:
            self.done.append(request.data.action.commands)
            return "listed"

        item = ResponseFunctionShellToolCall(
            id="s1",
            call_id="call_1",
            type="shell_call",
            status="completed",
            action={"commands": ["ls"]},  # type: ignore[arg-type]
        )
        return ShellTool(executor=execute), item, {"commands": ["ls"]}

    def make_local_shell(self) -> Any:
        async def execute(request: Any) -> str:
            self.done.append(request.data.action.command)
            return "listed"

        action = LocalShellCallAction(type="exec", command=["ls"], env={})
        item = LocalShellCall(
            id="s1", call_id="call_1", type="local_shell_call", status="completed", action=action
        )
        return LocalShellTool(executor=execute), item, {"command": ["ls"], "env": {}}

    def make_custom(self) -> Any:
        async def invoke(context: Any, text: str) -> str:
            self.done.append(text)
            return "listed"

        item = ResponseCustomToolCall(
            call_id="call_1", type="custom_tool_call", name="custom", input="ls"
        )
        return CustomTool("custom", "Does.", invoke), item, {"input": "ls"}

    def make_patch(self) -> Any:
        editor = Editor()
        self.done = editor.done
        operation = {"type": "create_file", "path": "a.txt", "diff": "+a"}
        item = {
            "type": "apply_patch_call",
            "id": "p1",
            "call_id": "call_1",
            "status": "completed",
            "operation": operation,
        }
        return ApplyPatchTool(editor=editor), item, operation

    async def run(self, stage: Stage) -> str:
        """Run an agent with it, twice over in hooks; gives what the model read last."""
        model = ScriptedModel([[self.item], [assistant_message(DONE)]])
        hooks = stage.hooks
        agent = amplify(Agent("agent", tools=[self.tool], model=model), hooks)
        amplify(Agent("other", tools=[self.tool]), hooks)
        result = await Runner.run(agent, "Go.", run_config=CONFIG)
        assert result.final_output == DONE
        return read_requests(model)[-1]


KINDS = ["shell", "local_shell", "custom", "patch"]
NAMES = {"patch": "apply_patch"}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_is_seen_and_runs(stage: Stage, kind: str) -> None:
    """Once, by its name and with what it would do."""
    stage.listen("tool:pre", "tool:post", "provider:response")
    bench = Bench(kind)
    read = await bench.run(stage)
    assert len(bench.done) == 1
    assert "listed" in read or "created a.txt" in read
    assert stage.heard.names == [
        "provider:response",
        "tool:pre",
        "tool:post",
        "provider:response",
    ]
    pre = stage.heard.events[1][1]
    assert pre["tool_name"] == NAMES.get(kind, kind)
    assert pre["tool_input"] == bench.arguments
    wanted = stage.heard.events[0][1]["response"]["tool_calls"][0]
    assert wanted["name"] == NAMES.get(kind, kind)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_denied_call_does_not_run(stage: Stage, kind: str) -> None:
    """The model reads why."""
    stage.answer("tool:pre", DENY)
    bench = Bench(kind)
    assert "against the rules" in await bench.run(stage)
    assert bench.done == []


CHANGES: dict[str, tuple[dict[str, Any], Any]] = {
    "shell": ({"commands": ["pwd"]}, ["pwd"]),
    "local_shell": ({"command": ["pwd"]}, ["pwd"]),
    "custom": ({"input": "pwd"}, "pwd"),
    "patch": ({"path": "b.txt"}, ("create_file", "b.txt")),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_is_changed(stage: Stage, kind: str) -> None:
    """What a hook left is what runs, and what it leaves of the result is what the model reads."""
    given, done = CHANGES[kind]
    stage.answer("tool:pre", change_input(**given))
    stage.answer("tool:post", change_output("[removed]"))
    bench = Bench(kind)
    assert "[removed]" in await bench.run(stage)
    assert bench.done == [done]


async def test_a_patch_of_another_kind_does_not_run(stage: Stage) -> None:
    """A hook cannot make a deletion of it."""
    stage.answer("tool:pre", change_input(type="delete_file"))
    bench = Bench("patch")
    read = await bench.run(stage)
    assert bench.done == []
    assert "delete_file" in read or "failed" in read


@pytest.mark.parametrize("kind", KINDS)
async def test_other_agents_use_them_as_ever(stage: Stage, kind: str) -> None:
    """A tool that a governed agent has is nobody else's concern."""
    bench = Bench(kind)
    amplify(Agent("governed", tools=[bench.tool]), stage.hooks)
    stage.answer("tool:pre", DENY)
    model = ScriptedModel([[bench.item], [assistant_message(DONE)]])
    free = Agent("free", tools=[bench.tool], model=model)
    assert (await Runner.run(free, "Go.", run_config=CONFIG)).final_output == DONE
    assert len(bench.done) == 1


def test_a_hosted_shell_is_left_alone(stage: Stage) -> None:
    """There is nothing here that would run."""
    tool = ShellTool(environment={"type": "container_auto"})
    amplify(Agent("agent", tools=[tool]), stage.hooks)
    assert tool.executor is None


async def test_an_editor_has_what_it_had(stage: Stage) -> None:
    """Other methods of the application's editor can be reached."""
    bench = Bench("patch")
    amplify(Agent("agent", tools=[bench.tool]), stage.hooks)
    assert bench.tool.editor.done is bench.done


DENY_HANDOFF = HookResult(action="deny", reason="stay here")
TRANSFER = "transfer_to_billing"


class Pair:
    """An agent that hands off to another one, which wipes something."""

    def __init__(self, *, plain: bool = True) -> None:
        self.ran = Ran()
        self.model = make_model([[call(TRANSFER, 1)], DONE])
        self.other_model = make_model(use(call("wipe", 2, path="/tmp/x")))
        self.other = Agent("billing", tools=make_tools(self.ran), model=self.other_model)
        made: Any = self.other if plain else handoff(self.other)
        self.agent = Agent("agent", model=self.model, handoffs=[made])

    async def run(self, stage: Stage) -> Any:
        amplify(self.agent, stage.hooks)
        return await Runner.run(self.agent, "Go.", run_config=CONFIG)


@pytest.mark.parametrize("plain", [True, False])
async def test_the_next_agent_is_governed_in_the_same_session(stage: Stage, plain: bool) -> None:
    """Its tools and its model; the hand-off itself is a call that hooks see."""
    stage.listen("session:start", "tool:pre", "agent:spawn", "provider:request")
    pair = Pair(plain=plain)
    result = await pair.run(stage)
    assert result.last_agent is pair.other
    assert pair.ran.ran("wipe") == [{"path": "/tmp/x"}]
    heard = [(name, data.get("tool_name")) for name, data in stage.heard.events]
    assert heard == [
        ("session:start", None),
        ("provider:request", None),
        ("tool:pre", TRANSFER),
        ("agent:spawn", None),
        ("provider:request", None),
        ("tool:pre", "wipe"),
        ("provider:request", None),
    ]
    assert len({data["session_id"] for _, data in stage.heard.events}) == 1


@pytest.mark.parametrize("event", ["tool:pre", "agent:spawn"])
@pytest.mark.parametrize("plain", [True, False])
async def test_a_denied_handoff_stays_with_the_agent(stage: Stage, event: str, plain: bool) -> None:
    """The model reads why, and goes on."""
    stage.answer(event, DENY_HANDOFF)
    pair = Pair(plain=plain)
    result = await pair.run(stage)
    assert result.last_agent is pair.agent
    assert result.final_output == DONE
    assert "stay here" in read_requests(pair.model)[-1]
    assert pair.other_model.calls == ()


async def test_a_person_is_asked_about_a_handoff(stage: Stage) -> None:
    """As about any call."""
    stage.answer("tool:pre", ask("Hand over?"), tool=TRANSFER)
    stage.ask_person("Deny")
    pair = Pair()
    result = await pair.run(stage)
    assert stage.person.prompts == ["Hand over?"]
    assert result.last_agent is pair.agent


async def test_the_words_of_a_handoff_can_be_changed(stage: Stage) -> None:
    """The next agent reads what a hook left."""
    stage.answer("tool:post", change_output("Over to billing."), tool=TRANSFER)
    pair = Pair()
    result = await pair.run(stage)
    assert result.last_agent is pair.other
    assert "Over to billing." in read_requests(pair.other_model)[0]


async def test_another_agent_cannot_be_chosen(stage: Stage) -> None:
    """The SDK has chosen it: a change is a no, and the table says so."""

    def choose(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "agent_name": "boss"})

    stage.answer("agent:spawn", choose)
    pair = Pair()
    result = await pair.run(stage)
    assert result.last_agent is pair.agent
    assert "the SDK has chosen the agent" in read_requests(pair.model)[-1]


async def test_an_agent_that_is_made_at_the_handoff_is_governed(stage: Stage) -> None:
    """Whoever makes it."""
    pair = Pair()

    async def make(context: Any, given: str) -> Agent[Any]:
        return pair.other

    made: Any = Handoff(TRANSFER, "Bills.", {}, make, "billing")
    pair.agent.handoffs = [made]
    stage.answer("tool:pre", DENY_HANDOFF, tool="wipe")
    result = await pair.run(stage)
    assert result.last_agent is pair.other
    assert pair.ran.calls == []


async def test_handoffs_of_other_agents_are_as_ever(stage: Stage) -> None:
    """Also by an object that a governed agent has had."""
    free, other = make_model([[call(TRANSFER, 1)]]), Agent("billing", model=make_model([DONE]))

    async def choose(context: Any, given: str) -> Agent[Any]:
        return other

    made: Any = Handoff(TRANSFER, "Bills.", {}, choose, "billing")
    amplify(Agent("governed", handoffs=[made]), stage.hooks)
    stage.answer("tool:pre", DENY_HANDOFF, tool=TRANSFER)
    result = await Runner.run(Agent("free", model=free, handoffs=[made]), "Go.", run_config=CONFIG)
    assert result.last_agent is other


async def test_a_governed_agent_does_not_take_over_without_its_hooks(stage: Stage) -> None:
    """From an agent that is not governed: the run is aborted before its model is asked."""
    pair = Pair()
    amplify(pair.other, stage.hooks)
    with pytest.raises(UserError, match="'billing' is governed, but this run of it is not"):
        await Runner.run(pair.agent, "Go.", run_config=CONFIG)
    assert pair.other_model.calls == ()
    assert pair.ran.calls == []


WIPE = call("wipe", 2, path="/tmp/x")


class InterruptBench:
    """An agent whose questions are interruptions."""

    def __init__(self, stage: Stage, script: list[Step], *tools: Any) -> None:
        self.ran = Ran()
        self.model: ScriptedModel = make_model(script)
        self.agent = Agent("agent", tools=[*make_tools(self.ran), *tools], model=self.model)
        amplify(self.agent, stage.hooks, asks="interrupt")

    async def run(self, given: Any = "Go.") -> RunResult:
        """Run it, or go on with it."""
        return await Runner.run(self.agent, given, run_config=CONFIG)

    @property
    def last(self) -> str:
        """What the model was sent last."""
        return read_requests(self.model)[-1]


def decide(result: RunResult, option: str = "Allow") -> RunState[Any]:
    """Answer each question with the same."""
    state = result.to_state()
    for item, payload in questions(result):
        settle(state, item, answer(payload, option, by="ana"))
    return state


async def test_a_question_is_an_interruption(stage: Stage) -> None:
    """With what a person needs to see; other calls have run."""
    stage.answer("tool:pre", ask("Really?"), tool="wipe")
    bench = InterruptBench(stage, use(call("note", 1, text="a"), WIPE))
    result = await bench.run()
    [(item, payload)] = questions(result)
    assert item.tool_name == "wipe"
    assert (payload["prompt"], payload["tool_input"]) == ("Really?", {"path": "/tmp/x"})
    assert bench.ran.calls == [("note", {"text": "a"})]
    assert (await bench.run(decide(result))).final_output == DONE
    assert bench.ran.ran("note") == [{"text": "a"}]
    assert bench.ran.ran("wipe") == [{"path": "/tmp/x"}]


async def test_each_hook_judges_a_call_once(stage: Stage) -> None:
    """A call that nobody is asked about is judged before the SDK runs it, and not again."""
    stage.listen("tool:pre", "tool:post")
    bench = InterruptBench(stage, use(call("note", 1, text="a"), call("note", 2, text="b")))
    await bench.run()
    assert sorted(stage.heard.names) == ["tool:post", "tool:post", "tool:pre", "tool:pre"]


async def test_a_state_that_was_stored_goes_on(stage: Stage) -> None:
    """In another process, say: with the answer to what was shown in the first one."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = InterruptBench(stage, use(WIPE))
    result = await bench.run()
    payload = questions(result)[0][1]
    text = result.to_state().to_string()
    state: RunState[Any] = await RunState.from_string(bench.agent, text)
    [item] = state.get_interruptions()
    settle(state, item, answer(payload, "Allow", by="ana"))
    assert (await bench.run(state)).final_output == DONE
    assert bench.ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert stage.of_type("approval_decided")[-1]["body"]["by"] == "ana"


async def test_the_sdks_own_approval_counts_for_what_it_has_shown(stage: Stage) -> None:
    """An application that knows nothing of us approves as ever."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = InterruptBench(stage, use(WIPE))
    result = await bench.run()
    state = result.to_state()
    state.approve(result.interruptions[0])
    assert (await bench.run(state)).final_output == DONE
    assert bench.ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_the_sdks_own_approval_does_not_count_for_anything_else(stage: Stage) -> None:
    """It shows what the model wanted, not what a hook made of it."""
    stage.answer("tool:pre", change_input(path="/"), tool="wipe", name="changer", priority=-5)
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = InterruptBench(stage, use(WIPE))
    result = await bench.run()
    assert questions(result)[0][1]["tool_input"] == {"path": "/"}
    state = result.to_state()
    state.approve(result.interruptions[0])
    await bench.run(state)
    assert bench.ran.calls == []
    assert "its question was not put to anybody" in bench.last


async def test_the_sdks_own_refusal_is_one(stage: Stage) -> None:
    """Nothing runs, and the model reads the SDK's words."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = InterruptBench(stage, use(WIPE))
    result = await bench.run()
    state = result.to_state()
    state.reject(result.interruptions[0], rejection_message="use the trash")
    await bench.run(state)
    assert bench.ran.calls == []
    assert "use the trash" in bench.last


async def test_always_of_the_sdk_does_not_answer_the_next_question(stage: Stage) -> None:
    """Our gates ask about each call; the next one is refused, and the model reads why."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = InterruptBench(stage, [[WIPE], [call("wipe", 3, path="/etc")], DONE])
    result = await bench.run()
    state = result.to_state()
    state.approve(result.interruptions[0], always_approve=True)
    await bench.run(state)
    assert bench.ran.ran("wipe") == [{"path": "/tmp/x"}]
    assert "its question was not put to anybody" in bench.last


async def test_a_second_question_about_a_call_is_refused(stage: Stage) -> None:
    """The SDK interrupts a call once."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    bench = InterruptBench(stage, use(WIPE))
    await bench.run(decide(await bench.run()))
    assert bench.ran.calls == []
    assert 'use asks="inline"' in bench.last.replace("\\", "")


async def test_a_denied_call_is_no_interruption(stage: Stage) -> None:
    """The model reads why, in the same run."""
    stage.answer("tool:pre", HookResult(action="deny", reason="never"), tool="wipe")
    bench = InterruptBench(stage, use(WIPE))
    result = await bench.run()
    assert (result.final_output, bench.ran.calls) == (DONE, [])
    assert "never" in bench.last


async def test_a_stream_is_interrupted(stage: Stage) -> None:
    """And goes on as a stream."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = InterruptBench(stage, use(WIPE))
    given: Any = "Go."
    for _ in range(2):
        result: Any = Runner.run_streamed(bench.agent, given, run_config=CONFIG)
        async for _ in result.stream_events():
            pass
        given = decide(result)
    assert result.final_output == DONE
    assert bench.ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_a_question_in_a_sub_agent_interrupts_the_whole_run(stage: Stage) -> None:
    """The application asks and goes on at the top."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    helper = Agent(
        "helper", tools=make_tools(ran), model=make_model(use(call("wipe", 7, path="/")))
    )
    tool = helper.as_tool("helper", "Helps.")
    bench = InterruptBench(stage, use(call("helper", 1, input="Clean up.")), tool)
    result = await bench.run()
    [(item, payload)] = questions(result)
    assert (item.tool_name, payload["tool_call_id"]) == ("wipe", "call_7")
    result = await bench.run(decide(result))
    assert result.final_output == DONE
    assert ran.ran("wipe") == [{"path": "/"}]


async def test_a_tool_with_defaults_interrupts_nothing(stage: Stage) -> None:
    """The SDK asks about arguments that it cannot inspect, for rules of the application only."""

    @function_tool
    def greet(whom: str = "you") -> str:
        return f"hello {whom}"

    bench = InterruptBench(stage, use(call("greet")), greet)
    result = await bench.run()
    assert result.final_output == DONE
    assert "hello you" in bench.last


@pytest.mark.parametrize("rule", [True, lambda *_: True])
async def test_a_rule_of_the_application_stays_one(stage: Stage, rule: Any) -> None:
    """Its interruption is none of ours; once it is approved, hooks judge the call."""

    @function_tool(needs_approval=rule)
    def greet(whom: str) -> str:
        return f"hello {whom}"

    stage.listen("tool:pre")
    bench = InterruptBench(stage, use(call("greet", whom="ana")), greet)
    result = await bench.run()
    assert len(result.interruptions) == 1
    assert questions(result) == []
    assert stage.heard.names == []
    state = result.to_state()
    state.approve(result.interruptions[0])
    await bench.run(state)
    assert "hello ana" in bench.last
    assert stage.heard.names == ["tool:pre"]


async def test_arguments_that_the_sdk_cannot_inspect_need_its_approval(stage: Stage) -> None:
    """With a rule that is a function, as with the SDK alone."""

    @function_tool(needs_approval=_never)
    def greet(whom: str = "you") -> str:
        return f"hello {whom}"

    result = await InterruptBench(stage, use(call("greet")), greet).run()
    assert len(result.interruptions) == 1


async def _never(*_: Any) -> bool:
    return False


async def test_more_calls_than_may_run_at_once(stage: Stage) -> None:
    """Those that wait, judged, hold up nobody."""
    bench = InterruptBench(
        stage, use(*(call("note", number, text=str(number)) for number in range(60)))
    )
    result = await bench.run()
    assert result.final_output == DONE
    assert len(bench.ran.calls) == 60


async def test_a_call_that_was_judged_and_never_run_is_ended(stage: Stage) -> None:
    """Such as one that a guardrail of the SDK rejects afterwards."""

    async def reject(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("not with me")

    ran: list[str] = []

    @function_tool(tool_input_guardrails=[ToolInputGuardrail(reject)])
    def greet(whom: str) -> str:
        ran.append(whom)
        return whom

    bench = InterruptBench(stage, use(call("greet", whom="ana")), greet)
    assert (await bench.run()).final_output == DONE
    assert ran == []
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]
