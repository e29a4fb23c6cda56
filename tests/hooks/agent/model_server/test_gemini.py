"""The protocol of Gemini: what it refuses, and replies as its clients read them.

`make agents` runs the real Gemini CLI against it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_hooks.agent.model_server import Failure, ModelServer, Reply, ScriptedCall, gemini
from amplifier_hooks.agent.model_server.exchange import Exchange, Malformed
from tests.hooks.agent.model_server.wire import read_events, send_bytes, write_post

STREAM = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
WHOLE = "/v1beta/models/gemini-2.5-flash:generateContent"
ASKED = {"role": "user", "parts": [{"text": "y"}]}
SAID = {"role": "model", "parts": [{"text": "x"}]}
CALL = {"role": "model", "parts": [{"functionCall": {"name": "b", "args": {}}}]}
ANSWER = {"name": "b", "response": {"output": "out"}}
OUTPUT = {"role": "user", "parts": [{"functionResponse": ANSWER}]}
SHELL = ScriptedCall(name="run_shell_command", input={"command": "git status"})


def write_body(*contents: object) -> dict[str, Any]:
    return {"contents": list(contents)}


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        ([], "contents is not specified"),
        ([{"role": "assistant", "parts": [{"text": "x"}]}], "valid role"),
        ([{"role": "user", "parts": []}], "must not be empty"),
        ([ASKED, CALL], "were called and"),
        ([ASKED, CALL, ASKED], "were called and"),
        ([ASKED, OUTPUT], "were called and"),
    ],
)
async def test_a_request_that_the_real_server_refuses_is_refused(
    contents: list[Any], problem: str
) -> None:
    """A conversation that would fail in earnest fails in the tests."""
    async with ModelServer([]) as server:
        answer = await send_bytes(server, write_post(STREAM, write_body(*contents)))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert problem in answer.decode()
    assert '"status": "INVALID_ARGUMENT"' in answer.decode()


@pytest.mark.parametrize(
    ("contents", "field"),
    [
        (7, "contents"),
        (["x"], "contents.0"),
        ([{"role": ["user"]}], "role"),
        ([{"role": "user", "parts": "x"}], "parts"),
        ([{"role": "user", "parts": [{"functionCall": "x"}]}], "functionCall"),
    ],
)
def test_a_field_of_another_type_is_named(contents: Any, field: str) -> None:
    """Every field may hold any JSON; the answer says which one is wrong."""
    with pytest.raises(Malformed, match=rf"'{field}'"):
        gemini.find_problem({"contents": contents})


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (STREAM, {"model": "gemini-2.5-flash", "stream": True}),
        ("/v1/models/m:generateContent", {"model": "m", "stream": False}),
        ("/v1beta/models/m:countTokens", None),
        ("/v1beta/models/a/b:generateContent", None),
        ("/v1/messages", None),
    ],
)
def test_the_address_says_which_model_and_how(path: str, said: Any) -> None:
    """Neither stands in the body, as it does with the others."""
    assert gemini.read_address(path) == said


def test_what_was_said_last_includes_the_answers_of_functions() -> None:
    """Everything behind the model's last content counts."""
    body = write_body(ASKED, SAID, CALL, OUTPUT, ASKED)
    assert gemini.read_last_words(body) == '{"output": "out"}\ny'
    assert gemini.count_replies(body) == 1
    assert gemini.count_replies(write_body(ASKED, SAID, ASKED, CALL, OUTPUT)) == 2


async def test_a_stream_holds_the_reply_in_pieces_and_says_why_it_ended() -> None:
    """The parts of all events, put together, are the parts of the whole response."""
    line = Reply(thinking="Hm, hm.", text="Let me see.", tool_calls=(SHELL,))
    async with ModelServer([line, line]) as server:
        streamed = await send_bytes(server, write_post(STREAM, write_body(ASKED)))
        whole = await send_bytes(server, write_post(WHOLE, write_body(ASKED)))
    pieces = [event["candidates"][0] for event in read_events(streamed)]
    parts = [part for piece in pieces for part in piece["content"]["parts"]]
    (candidate,) = json.loads(whole.partition(b"\r\n\r\n")[2])["candidates"]
    thought, text, call = candidate["content"]["parts"]
    assert (thought["text"], text["text"]) == ("Hm, hm.", "Let me see.")
    assert "".join(part["text"] for part in parts if part.get("thought")) == "Hm, hm."
    assert "".join(p.get("text", "") for p in parts if not p.get("thought")) == "Let me see."
    assert call["functionCall"] == {"id": "call_2_1", "name": SHELL.name, "args": SHELL.input}
    assert [p["functionCall"]["args"] for p in parts if "functionCall" in p] == [SHELL.input]
    assert [piece.get("finishReason") for piece in pieces][-2:] == [None, "STOP"]
    assert candidate["finishReason"] == "STOP"


@pytest.mark.parametrize("written", ['{"command": "l', "[]"])
def test_a_call_with_arguments_that_are_no_object_is_not_passed_on(written: str) -> None:
    """The real server keeps such a call to itself and gives it as the reason of the end."""
    call = ScriptedCall(name="b", arguments=written)
    response = gemini.write_reply(Exchange(Reply(text="x", tool_calls=(call,)), 1, {}))
    (candidate,) = response["candidates"]
    assert candidate["content"]["parts"] == [{"text": "x"}]
    assert candidate["finishReason"] == "MALFORMED_FUNCTION_CALL"


@pytest.mark.parametrize(("text", "sent"), [("Yes.", '"Yes."'), ('{"a": 1}', '{"a": 1}')])
def test_a_request_for_json_gets_json(text: str, sent: str) -> None:
    """A reply that is no JSON is sent as a JSON string."""
    body = {"generationConfig": {"responseMimeType": "application/json"}}
    (candidate,) = gemini.write_reply(Exchange(Reply(text=text), 1, body))["candidates"]
    assert candidate["content"]["parts"] == [{"text": sent}]


async def test_errors_come_in_the_form_of_google() -> None:
    """With the status by its name, the wait as a detail, and in a stream as an event."""
    limited = {"error": {"type": "rate_limit", "retry_after": 2}}
    async with ModelServer([limited, {"error": {"type": "overloaded", "after": 1}}]) as server:
        first = await send_bytes(server, write_post(STREAM, write_body(ASKED)))
        second = await send_bytes(server, write_post(STREAM, write_body(ASKED)))
    error = json.loads(first.partition(b"\r\n\r\n")[2])["error"]
    assert (error["code"], error["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert error["details"][0]["retryDelay"] == "2s"
    begun, failed = read_events(second)
    assert "candidates" in begun
    assert failed["error"]["status"] == "UNAVAILABLE"
    code, _ = gemini.write_error(Failure(type="authentication"))
    assert code == 401


async def test_the_key_is_read_from_the_header_of_google() -> None:
    """`x-goog-api-key`, and any other key is refused."""
    post = write_post(WHOLE, write_body(ASKED))
    named = post.replace(b"Host: x", b"Host: x\r\nx-goog-api-key: k")
    async with ModelServer([{"text": "Yes."}], api_key="k") as server:
        assert (await send_bytes(server, post)).startswith(b"HTTP/1.1 401 ")
        assert b"Yes." in await send_bytes(server, named)
    assert [received.path for received in server.requests] == [WHOLE, WHOLE]
    assert server.requests[0].body == write_body(ASKED)
