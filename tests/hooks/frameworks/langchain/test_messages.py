"""Messages, replies, results and prompts, in both directions."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    HumanMessage,
    InvalidToolCall,
    RemoveMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from langgraph.types import Command
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_core.models import ToolResult
from amplifier_hooks.external.messages import Placed
from amplifier_hooks.external.verdicts import Called, ReplyVerdict, RequestVerdict, TextVerdict
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from amplifier_hooks.frameworks.langchain.messages import (
    Kept,
    build_message,
    change_message,
    change_prompt,
    change_reply,
    change_request,
    change_result,
    describe_failure,
    describe_message,
    describe_request,
    keep,
    list_tools,
    name_model,
    name_provider,
    place_request,
    read_answer,
    read_prompt,
    read_reply,
    read_result,
    replace_calls,
    replace_text,
    store,
)
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, call, change_output, use

CALL = ToolCall(name="note", args={"text": "a"}, id="1", type="tool_call")
IMAGE = {"type": "image", "url": "https://example.org/a.png"}


@pytest.mark.parametrize(
    ("message", "plain"),
    [
        (HumanMessage("hi"), {"role": "user", "content": "hi"}),
        (SystemMessage("be"), {"role": "system", "content": "be"}),
        (HumanMessage("hi", name="ana"), {"role": "user", "content": "hi", "name": "ana"}),
        (ChatMessage("hm", role="critic"), {"role": "critic", "content": "hm"}),
        (
            AIMessage("", tool_calls=[CALL]),
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "1", "name": "note", "arguments": {"text": "a"}}],
            },
        ),
        (
            ToolMessage("noted", tool_call_id="1", name="note"),
            {"role": "tool", "content": "noted", "tool_call_id": "1", "name": "note"},
        ),
        (HumanMessage([IMAGE]), {"role": "user", "content": [IMAGE]}),
    ],
)
def test_a_message_in_our_words(message: Any, plain: dict[str, Any]) -> None:
    """Role, content, and where it has them name, calls and the call that it answers."""
    assert describe_message(message) == plain


def test_a_text_is_replaced_beside_an_image() -> None:
    """What is no text stays; the message stays the same one."""
    message = HumanMessage([{"type": "text", "text": "My PIN"}, IMAGE, "is 4711"], id="m")
    changed = replace_text(message, "[removed]")
    assert changed.content == [{"type": "text", "text": "[removed]"}, IMAGE]
    assert changed.id == "m"
    assert "4711" in str(message.content)


def test_calls_are_replaced_wherever_a_message_has_them() -> None:
    """Providers keep them in content and in what they sent; none of the old ones is left."""
    raw = {"tool_calls": [{"id": "1"}], "other": 1}
    block = {"type": "tool_use", "id": "1", "name": "note", "input": {"text": "secret"}}
    message = AIMessage(
        [{"type": "text", "text": "so"}, block],
        tool_calls=[CALL],
        invalid_tool_calls=[InvalidToolCall(id="9", name="note", args="{secret", error="no JSON")],
        additional_kwargs=raw,
    )
    changed = replace_calls(message, [{"id": "2", "name": "wipe", "arguments": {"path": "/"}}])
    assert [one["name"] for one in changed.tool_calls] == ["wipe"]
    assert changed.content == [{"type": "text", "text": "so"}]
    assert changed.additional_kwargs == {"other": 1}
    assert "secret" not in str(changed)


def test_a_request_is_put_together() -> None:
    """What hooks left alone is the same object; the rest is changed, added or gone."""
    system, said = SystemMessage("be"), [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    placed = [
        Placed(0),
        Placed(1),
        Placed(3, {"role": "user", "content": "C"}),
        Placed(None, {"role": "user", "content": "new"}),
    ]
    leading, sent = place_request(system, said, placed)
    assert leading is system
    assert sent[0] is said[0]
    assert [one.content for one in sent] == ["a", "C", "new"]


def test_a_system_message_can_be_changed_and_removed() -> None:
    """It is the first of what hooks see."""
    system, said = SystemMessage("be"), [HumanMessage("a")]
    changed = [Placed(0, {"role": "system", "content": "be kind"}), Placed(1)]
    leading, _ = place_request(system, said, changed)
    assert leading is not None
    assert leading.content == "be kind"
    assert place_request(system, said, [Placed(1)])[0] is None
    assert place_request(None, said, [Placed(0)]) == (None, said)


def test_a_late_system_message_is_marked_text_of_the_user() -> None:
    """Several models take system messages in front only."""
    message = build_message({"role": "system", "content": "Lint </system-note> line 3"})
    assert isinstance(message, HumanMessage)
    text = str(message.content)
    assert text.startswith("<system-note>\n")
    assert text.count("</system-note>") == 1
    assert text.endswith("</system-note>")


def test_any_role_can_be_added() -> None:
    """Each becomes a message of that kind."""
    calls = [{"id": "1", "name": "note", "arguments": {}}]
    said = build_message({"role": "assistant", "content": "so", "tool_calls": calls})
    assert isinstance(said, AIMessage)
    assert said.tool_calls[0]["name"] == "note"
    assert isinstance(build_message({"role": "assistant", "content": "so"}), AIMessage)
    answered = build_message({"role": "tool", "content": "noted", "tool_call_id": "1"})
    assert isinstance(answered, ToolMessage)
    assert answered.tool_call_id == "1"
    assert isinstance(build_message({"role": "user", "content": "hi"}), HumanMessage)


def test_a_changed_message_keeps_what_hooks_do_not_see() -> None:
    """Its id, its metadata, and its calls unless those were changed."""
    message = AIMessage("a", id="m", tool_calls=[CALL], response_metadata={"model": "x"})
    plain = describe_message(message)
    changed = change_message(message, {**plain, "content": "b"})
    assert isinstance(changed, AIMessage)
    assert (changed.id, changed.content, changed.tool_calls) == ("m", "b", [CALL])
    assert changed.response_metadata == {"model": "x"}
    fewer = change_message(message, {"role": "assistant", "content": "b"})
    assert isinstance(fewer, AIMessage)
    assert fewer.tool_calls == []


class Weather(BaseModel):
    """The weather somewhere."""

    degrees: int


def make_request(**more: Any) -> ModelRequest[Any]:
    """A request to the scripted model."""
    given: dict[str, Any] = {
        "model": make_model([], []),
        "messages": [HumanMessage("hi")],
        "system_message": SystemMessage("be"),
        "tools": [*make_tools(Ran()), {"type": "web_search"}],
        **more,
    }
    return ModelRequest(**given)


def test_what_a_request_says_about_itself() -> None:
    """The conversation with its system message, the provider, the tools, also those elsewhere."""
    request = make_request()
    assert [one["role"] for one in describe_request(request)] == ["system", "user"]
    assert name_provider(request) == "generic-fake-chat-model"
    assert name_model(request) is None
    names = [one if isinstance(one, str) else one.name for one in list_tools(request)]
    assert names == ["note", "wipe", "boom", "web_search"]


def test_a_model_is_named_as_its_class_does_it() -> None:
    """Integrations call it model_name or model."""

    class Model:
        model = "x-1"

    assert name_model(make_request(model=Model())) == "x-1"


def test_a_request_is_the_same_object_or_another() -> None:
    """The conversation of the agent is not changed with it."""
    request = make_request()
    assert change_request(request, RequestVerdict(True)) is request
    placed = [Placed(0), Placed(1, {"role": "user", "content": "ho"})]
    changed = change_request(request, RequestVerdict(True, placed=placed, changed=True))
    assert changed.messages[0].content == "ho"
    assert changed.system_message is request.system_message
    assert request.messages[0].content == "hi"


def test_what_a_reply_says() -> None:
    """Text, calls, tokens, the model that answered, and how it ended."""
    message = AIMessage(
        "so",
        tool_calls=[CALL],
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        response_metadata={"model_name": "x-1", "finish_reason": "stop"},
    )
    reply = read_reply(ModelResponse(result=[message]), time.perf_counter())
    assert (reply.text, reply.model, reply.finish_reason) == ("so", "x-1", "stop")
    assert reply.calls == [{"id": "1", "name": "note", "arguments": {"text": "a"}}]
    assert reply.usage == {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    assert read_reply(ModelResponse(result=[]), 0.0).text == ""


def test_a_reply_is_the_same_object_or_another() -> None:
    """Refused, it calls no tool."""
    response: ModelResponse[Any] = ModelResponse(result=[AIMessage("so", tool_calls=[CALL])])
    assert change_reply(response, ReplyVerdict(True)) is response
    refused = change_reply(response, ReplyVerdict(False, "no")).result[0]
    assert isinstance(refused, AIMessage)
    assert (refused.content, refused.tool_calls) == ("no", [])
    both = ReplyVerdict(True, text="ok", calls=[])
    changed = change_reply(response, both).result[0]
    assert isinstance(changed, AIMessage)
    assert (changed.content, changed.tool_calls) == ("ok", [])


def test_a_structured_reply_is_parsed_again() -> None:
    """The object follows the text, or the reply is refused."""
    response: ModelResponse[Any] = ModelResponse(
        result=[AIMessage('{"degrees": 30}')], structured_response=Weather(degrees=30)
    )
    changed = change_reply(response, ReplyVerdict(True, text='{"degrees": 20}'))
    assert changed.structured_response == Weather(degrees=20)
    spoiled = change_reply(response, ReplyVerdict(True, text="hot"))
    assert spoiled.structured_response is None
    assert "left no Weather" in str(spoiled.result[0].content)


def test_a_call_that_is_the_answer_cannot_be_changed() -> None:
    """LangChain has read it already; the text beside it can."""
    call = ToolCall(name="Weather", args={"degrees": 30}, id="1", type="tool_call")
    answered = ToolMessage("Returning", tool_call_id="1")
    response: ModelResponse[Any] = ModelResponse(
        result=[AIMessage("so", tool_calls=[call]), answered],
        structured_response=Weather(degrees=30),
    )
    other = [{"id": "1", "name": "Weather", "arguments": {"degrees": 20}}]
    refused = change_reply(response, ReplyVerdict(True, calls=other))
    assert refused.structured_response is None
    assert len(refused.result) == 1
    kept = change_reply(response, ReplyVerdict(True, text="then"))
    assert kept.structured_response == Weather(degrees=30)
    assert kept.result[0].content == "then"
    assert kept.result[1] is answered


def test_a_failed_request_in_our_words() -> None:
    """What and why."""
    told = describe_failure("x", ConnectionError("no route"))
    assert told["error"]["type"] == "ConnectionError"
    assert "no route" in told["error"]["message"]


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


SAY: Any = {"messages": "Do it."}


class WeatherReport(BaseModel):
    """The weather somewhere."""

    place: str
    degrees: int


def change(text: str) -> Any:
    """A hook's answer: another answer."""
    return lambda data: HookResult(action="modify", data={**data, "response": text})


async def ask_weather(stage: Stage, strategy: Any, script: list[Step], **more: Any) -> Any:
    """Run an agent that answers with a WeatherReport."""
    middleware = [AmplifierMiddleware(stage.hooks)]
    options: Any = {"response_format": strategy(WeatherReport), **more}
    agent = create_agent(make_model(script, []), [], middleware=middleware, **options)
    return await agent.ainvoke(SAY, {"configurable": {"thread_id": "1"}})


BY_TOOL: list[Step] = [[call("WeatherReport", place="Rome", degrees=30)]]
BY_TEXT: list[Step] = ['{"place": "Rome", "degrees": 30}']
WAYS = pytest.mark.parametrize(
    ("strategy", "script"), [(ToolStrategy, BY_TOOL), (ProviderStrategy, BY_TEXT)]
)


def test_the_prompt_is_all_that_was_said_since_the_agent_spoke() -> None:
    """A text in two messages is judged as a whole; what was judged before is not repeated."""
    said = [HumanMessage("old"), AIMessage("hm"), HumanMessage("my PIN"), HumanMessage("is 4711")]
    assert read_prompt(said) == "my PIN\n\nis 4711"
    assert read_prompt([HumanMessage("a"), AIMessage("b")]) == ""


def test_a_changed_prompt_stands_where_the_last_one_stood() -> None:
    """The others go; what is no text stays."""
    image = {"type": "image", "url": "https://example.org/a.png"}
    said = [HumanMessage("my PIN", id="1"), HumanMessage([image, "is 4711"], id="2")]
    update = change_prompt({"messages": said}, TextVerdict(True, "[removed]", True))
    assert update is not None
    removed, changed = update["messages"]
    assert isinstance(removed, RemoveMessage)
    assert removed.id == "1"
    assert changed.id == "2"
    assert changed.content == [{"type": "text", "text": "[removed]"}, image]


def test_a_refused_prompt_leaves_nothing_of_an_older_answer() -> None:
    """A caller who reads structured_response does not get that of the turn before."""
    state = {"messages": [HumanMessage("hi", id="1")], "structured_response": {"old": 1}}
    update = change_prompt(state, TextVerdict(False, "no"))
    assert update is not None
    assert update["jump_to"] == "end"
    assert update["structured_response"] is None
    assert update["messages"][-1].content == "no"


def test_a_prompt_that_is_not_there_can_be_refused_and_added() -> None:
    """An agent may be called without a prompt."""
    state: dict[str, Any] = {"messages": []}
    refused = change_prompt(state, TextVerdict(False, "no"))
    added = change_prompt(state, TextVerdict(True, "hi", True))
    assert refused is not None
    assert added is not None
    assert [one.content for one in refused["messages"]] == ["no"]
    assert [one.content for one in added["messages"]] == ["hi"]
    assert change_prompt(state, TextVerdict(True, "")) is None


def test_an_answer_is_of_this_turn() -> None:
    """Not the last one that the thread has."""
    said = [HumanMessage("a"), AIMessage("old"), HumanMessage("b")]
    assert read_answer({"messages": said}) == ""
    results = [AIMessage(""), ToolMessage("30 degrees", tool_call_id="1")]
    assert read_answer({"messages": [HumanMessage("a"), *results]}) == "30 degrees"


@WAYS
async def test_a_structured_answer_is_seen(stage: Stage, strategy: Any, script: list[Step]) -> None:
    """As JSON, whichever way the model gave it; the caller gets the object."""
    stage.listen("prompt:answer")
    state = await ask_weather(stage, strategy, script)
    assert state["structured_response"] == WeatherReport(place="Rome", degrees=30)
    seen = WeatherReport.model_validate_json(stage.heard.events[0][1]["response"])
    assert seen.degrees == 30


@WAYS
async def test_a_structured_answer_is_changed(
    stage: Stage, strategy: Any, script: list[Step]
) -> None:
    """The caller gets an object of the same kind."""
    stage.answer("prompt:answer", change('{"place": "Rome", "degrees": 20}'))
    state = await ask_weather(stage, strategy, script)
    assert state["structured_response"] == WeatherReport(place="Rome", degrees=20)
    assert [one.content for one in state["messages"][1:]] == ['{"place": "Rome", "degrees": 20}']


@WAYS
async def test_a_structured_answer_that_a_hook_spoils_stays_inside(
    stage: Stage, strategy: Any, script: list[Step]
) -> None:
    """What is no such object is not handed over as one."""
    stage.answer("prompt:answer", change("hot"))
    state = await ask_weather(stage, strategy, script)
    assert state["structured_response"] is None
    assert "left no WeatherReport" in state["messages"][-1].content
    assert "Rome" not in str(state)


@WAYS
async def test_a_denied_structured_answer_stays_inside(
    stage: Stage, strategy: Any, script: list[Step]
) -> None:
    """In no form: the object, the text, the call, and its result are gone."""
    stage.answer("prompt:answer", HookResult(action="deny", reason="secret"))
    saver = InMemorySaver()
    state = await ask_weather(stage, strategy, script, checkpointer=saver)
    assert state["structured_response"] is None
    assert "secret" in state["messages"][-1].content
    assert "Rome" not in str(state)


async def test_the_result_of_a_tool_may_be_the_answer(stage: Stage) -> None:
    """A tool with return_direct ends the run; its result is judged as the answer."""

    def weather(place: str) -> str:
        """Tell the weather."""
        return f"{place}: 30 degrees"

    stage.answer("prompt:answer", HookResult(action="deny", reason="secret"))
    stage.listen("prompt:complete")
    agent = create_agent(
        make_model([[call("weather", place="Rome")]], []),
        [StructuredTool.from_function(weather, return_direct=True)],
        middleware=[AmplifierMiddleware(stage.hooks)],
    )
    state = await agent.ainvoke(SAY)
    assert "secret" in state["messages"][-1].content
    assert "30 degrees" not in str(state)


async def test_a_changed_answer_is_the_stored_one(stage: Stage) -> None:
    """The thread goes on with what the caller got."""
    stage.answer("prompt:answer", change("Nearly done."))
    requests: list[str] = []
    agent = create_agent(
        make_model([DONE, DONE], requests),
        [],
        middleware=[AmplifierMiddleware(stage.hooks)],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    await agent.ainvoke({"messages": "One."}, config)
    state = await agent.ainvoke({"messages": "Two."}, config)
    assert "Nearly done." in requests[-1]
    assert DONE not in requests[-1]
    said = [one.content for one in state["messages"]]
    assert said == ["One.", "Nearly done.", "Two.", "Nearly done."]


SAID = [HumanMessage("a", id="1"), AIMessage("b", id="2")]
LINT = {"role": "user", "content": "Lint"}


def texts(update: Any) -> list[str]:
    """The conversation after an update."""
    after: Any = add_messages(list(SAID), update["messages"])
    return [one.content for one in after]


def test_nothing_is_written_when_nothing_was_added() -> None:
    """The update stays as it was."""
    update = {"messages": [AIMessage("c")]}
    assert store({"messages": SAID}, update, []) is update
    assert store({"messages": SAID}, None, []) is None


def test_a_message_is_stored_behind_the_one_that_it_stood_behind() -> None:
    """In the order of the request."""
    kept = keep(SAID[:1], [LINT, {"role": "user", "content": "Twice"}])
    assert texts(store({"messages": SAID}, None, kept)) == ["a", "Lint", "Twice", "b"]


def test_a_changed_answer_is_stored_with_it() -> None:
    """And the rest of the update."""
    update = {"messages": [AIMessage("B", id="2")], "structured_response": None}
    written = store({"messages": SAID}, update, keep(SAID[:1], [LINT]))
    assert written is not None
    assert texts(written) == ["a", "Lint", "B"]
    assert written["structured_response"] is None


def test_what_stood_behind_a_message_that_is_gone_comes_first() -> None:
    """As after a summary took the place of the beginning."""
    assert texts(store({"messages": SAID}, None, [Kept("9", LINT)])) == ["Lint", "a", "b"]
    assert keep([], [LINT]) == [Kept(None, LINT)]
