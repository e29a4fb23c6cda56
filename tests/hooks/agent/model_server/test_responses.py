"""The Responses protocol: what it refuses, and replies that OpenAI's SDK understands."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.model_server import Failure, ModelServer, Reply, ScriptedCall, responses
from amplifier_hooks.agent.model_server.exchange import Exchange, Malformed
from tests.hooks.agent.model_server.wire import read_events, send_bytes, write_post

CALL = {"type": "function_call", "call_id": "a", "name": "b", "arguments": ""}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "out"}
PATCH = {"type": "custom_tool_call", "call_id": "a", "name": "b", "input": ""}
SAID = {"role": "assistant", "content": "x"}
ASKED = {"role": "user", "content": "y"}


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "Missing required parameter"),
        ([CALL], "No tool output found"),
        ([OUTPUT], "No tool call found"),
        ([CALL, {**OUTPUT, "call_id": "b"}], "No tool output found"),
        ([PATCH], "No tool output found for custom tool call"),
        ([PATCH, OUTPUT], "No tool output found for custom tool call"),
    ],
)
async def test_a_request_that_the_real_server_refuses_is_refused(
    items: list[Any], problem: str
) -> None:
    """A conversion that would fail in earnest fails in the tests."""
    async with ModelServer([]) as server:
        answer = await send_bytes(server, write_post(responses.PATH, {"input": items}))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert problem in answer.decode()


@pytest.mark.parametrize(
    ("given_input", "field"),
    [
        (7, "input"),
        (["x"], "input.0"),
        ([{"type": ["function_call"]}], "type"),
        ([{"type": "function_call", "call_id": {}}], "call_id"),
        ([{"type": "function_call"}], "call_id"),
    ],
)
def test_a_field_of_another_type_is_named(given_input: Any, field: str) -> None:
    """Every field may hold any JSON; the answer says which one is wrong."""
    with pytest.raises(Malformed, match=rf"'{field}'"):
        responses.find_problem({"input": given_input})


def test_a_tool_of_another_type_is_named_before_the_reply_begins() -> None:
    """Which tools are offered decides the form of a call."""
    with pytest.raises(Malformed, match=r"'tools.0'"):
        responses.find_problem({"input": "x", "tools": ["x"]})


def test_one_string_is_a_conversation() -> None:
    """The shortest request is a text."""
    body = {"input": "hello"}
    assert responses.find_problem(body) is None
    assert responses.read_last_words(body) == "hello"
    assert responses.count_replies(body) == 0


def test_what_was_said_last_includes_the_outputs_of_tools() -> None:
    """Everything behind the model's last item counts."""
    body = {"input": [ASKED, SAID, CALL, OUTPUT, ASKED]}
    assert responses.read_last_words(body) == "out\ny"


@given(
    st.lists(st.sampled_from([ASKED, SAID, CALL, PATCH, OUTPUT, {"type": "reasoning"}]), max_size=9)
)
def test_a_reply_of_several_items_is_one_reply(items: list[dict[str, Any]]) -> None:
    """Thoughts, words and calls in a row are what the model said at once."""
    of_model = [item not in (ASKED, OUTPUT) for item in items]
    runs = sum(now and (n == 0 or not of_model[n - 1]) for n, now in enumerate(of_model))
    assert responses.count_replies({"input": items}) == runs


def test_events_are_numbered_and_hold_the_reply_in_pieces() -> None:
    """The deltas of a stream, put together, are the items of the final response."""
    call = ScriptedCall(name="Bash", input={"command": "git status"})
    exchange = Exchange(Reply(thinking="Hm, hm.", text="Let me see.", tool_calls=(call,)), 1, {})
    events = read_events(b"".join(responses.write_events(exchange)))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))

    def join(kind: str) -> str:
        return "".join(event["delta"] for event in events if event["type"] == kind)

    assert join("response.output_text.delta") == "Let me see."
    assert join("response.reasoning_summary_text.delta") == "Hm, hm."
    assert join("response.function_call_arguments.delta") == '{"command": "git status"}'
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["output"] == responses.write_reply(exchange)["output"]


async def test_a_tool_that_takes_text_is_called_with_text() -> None:
    """A tool that was offered as `custom` gets the script's `arguments` as they are."""
    patch = "*** Begin Patch\n*** End Patch"
    line = {"tool_calls": [{"name": "apply_patch", "arguments": patch}]}
    tool: Any = {"type": "custom", "name": "apply_patch"}
    async with (
        ModelServer([line, line]) as server,
        openai.AsyncOpenAI(api_key="k", base_url=server.openai_url) as client,
        client.responses.stream(model="m", input="x", tools=[tool]) as events,
    ):
        (call,) = (await events.get_final_response()).output
        (plain,) = (await client.responses.create(model="m", input="x")).output
    assert call.type == "custom_tool_call"
    assert (call.name, call.input) == ("apply_patch", patch)
    assert plain.type == "function_call"


def test_the_deltas_of_a_text_are_its_input() -> None:
    """Put together, they are what the finished item holds."""
    body = {"tools": [{"type": "custom", "name": "apply_patch"}]}
    call = ScriptedCall(name="apply_patch", arguments="*** Begin Patch\n+a line")
    events = read_events(
        b"".join(responses.write_events(Exchange(Reply(tool_calls=(call,)), 1, body)))
    )
    kind = "response.custom_tool_call_input"
    deltas = [event["delta"] for event in events if event["type"] == f"{kind}.delta"]
    assert "".join(deltas) == call.arguments
    (begun,) = (e for e in events if e["type"] == "response.output_item.added")
    assert begun["item"]["input"] == ""


def test_a_dot_in_a_name_separates_the_namespace() -> None:
    """Codex has its sub-agents and the tools of MCP servers in groups."""
    call = ScriptedCall(name="mcp__demo.add", input={"a": 1})
    (item,) = responses.write_reply(Exchange(Reply(tool_calls=(call,)), 1, {}))["output"]
    assert (item["namespace"], item["name"]) == ("mcp__demo", "add")
    plain = ScriptedCall(name="Bash")
    (item,) = responses.write_reply(Exchange(Reply(tool_calls=(plain,)), 1, {}))["output"]
    assert (item.get("namespace"), item["name"]) == (None, "Bash")


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_a_reply_that_was_cut_is_incomplete(reason: str) -> None:
    """Why it ended is in `incomplete_details`."""
    exchange = Exchange(Reply(text="And so", finish_reason=reason), 1, {})
    response = responses.write_reply(exchange)
    assert (response["status"], response["incomplete_details"]) == (
        "incomplete",
        {"reason": reason},
    )
    last = read_events(b"".join(responses.write_events(exchange)))[-1]
    assert last["type"] == "response.incomplete"


def test_an_error_in_mid_stream_has_its_code() -> None:
    """The event has no status; its code, or its type where there is none, has to do."""
    (limited,) = read_events(responses.write_error_event(Failure(type="rate_limit")))
    assert (limited["type"], limited["code"]) == ("error", "rate_limit_exceeded")
    (failed,) = read_events(responses.write_error_event(Failure(type="server_error")))
    assert failed["code"] == "server_error"


async def test_the_sdks_own_helper_understands_the_stream() -> None:
    """Its accumulator, which we do not use, agrees with what the server says."""
    line = {"thinking": "Hm.", "text": "Look.", "tool_calls": [{"name": "B", "input": {"a": 1}}]}
    async with (
        ModelServer([line]) as server,
        openai.AsyncOpenAI(api_key="k", base_url=server.openai_url) as client,
        client.responses.stream(model="m", input="x") as events,
    ):
        response = await events.get_final_response()
    assert response.output_text == "Look."
    kinds = [item.type for item in response.output]
    assert kinds == ["reasoning", "message", "function_call"]
