"""The model and the tools of a replayed session."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import ChatRequest
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.insight.replay.playback import Playback, current_call
from amplifier_hooks.insight.replay.recorded_calls import (
    Outcomes,
    RecordedModel,
    RecordedTool,
    collect_outcomes,
    find_room,
    list_told,
    list_tools,
    make_error,
    mount_recorded,
)
from amplifier_hooks.insight.replay.recording import CannotReplay, Run
from tests.hooks.insight.replay.items import call, event
from tests.hooks.insight.replay.test_recording import make

REQUEST = ChatRequest(messages=[])
SAID = {"content": [{"type": "text", "text": "hello"}], "tool_calls": None, "usage": None}
BUSY = {"type": "RateLimitError", "message": "slow down", "retryable": True, "status_code": 429}


def open_model(*items: Any, keep_going: bool = False) -> RecordedModel:
    """The model of these items, with its first request under way."""
    playback = Playback(make(*items), keep_going=keep_going)
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    playback.compare_next(event("provider:request"))
    return RecordedModel(playback, "s")


async def test_each_try_has_the_outcome_that_it_had() -> None:
    """First the error, then the answer."""
    model = open_model(
        event("provider:request", 1, provider="anthropic", model="m"),
        event("provider:retry", 2, error=BUSY),
        event("provider:response", 3, response=SAID),
    )
    assert (model.name, model.model, model.get_info().id) == ("anthropic", "m", "anthropic")
    with pytest.raises(llm_errors.RateLimitError, match="slow down") as caught:
        await model.complete(REQUEST)
    assert (caught.value.retryable, caught.value.status_code) == (True, 429)
    assert (await model.complete(REQUEST)).text == "hello"
    assert await model.list_models() == []


async def test_an_answer_can_arrive_in_pieces() -> None:
    """And is the same at the end."""
    model = open_model(event("provider:request", 1), event("provider:response", 2, response=SAID))
    chunks = [one async for one in model.stream(REQUEST)]
    assert [one.kind for one in chunks] == ["block_start", "text", "block_end", "response"]
    assert chunks[-1].response is not None
    assert model.parse_tool_calls(chunks[-1].response) == []


async def test_an_answer_that_is_not_whole_cannot_be_replayed() -> None:
    """The sentence names the record."""
    cut = event("provider:response", 2, response={"content": {"$cut": "list"}})
    model = open_model(event("provider:request", 1), cut)
    with pytest.raises(CannotReplay, match="Record 2"):
        await model.complete(REQUEST)


async def test_a_request_without_an_answer_fails_for_those_who_go_on() -> None:
    """Others do not come here: the request itself was new."""
    model = open_model(event("provider:request", 1), keep_going=True)
    with pytest.raises(llm_errors.InvalidRequestError, match="no answer to this request"):
        await model.complete(REQUEST)


def test_outcomes_belong_to_their_requests() -> None:
    """A request that was broken off has none, and takes none of the next."""
    found = collect_outcomes(
        make(
            event("provider:request", 1),
            event("provider:request", 2),
            event("provider:response", 3, response=SAID),
        ),
        "s",
    )
    assert {request: [one.end for one in outcomes] for request, outcomes in found.items()} == {
        2: [3]
    }


@pytest.mark.parametrize("room", [40, 41, 136_000])
def test_the_model_reads_as_much_as_it_read(room: int) -> None:
    """So the conversation is made smaller at the same point."""
    compact = event("context:pre_compact", 1, trigger="auto", target_tokens=int(room * 0.5))
    found = find_room(make(compact), "s", 0.5)
    assert found in (room, room + 1)
    asked = event("context:pre_compact", 1, trigger="manual", target_tokens=5)
    assert find_room(make(asked), "s", 0.5) is None


def test_an_error_that_nobody_knows_keeps_its_name() -> None:
    """As an error of a model."""
    error = make_error({"type": "OddError", "message": "x"})
    assert isinstance(error, llm_errors.LLMError)
    assert type(error).__name__ == "OddError"


ITEMS = [
    call("started", 2),
    event("artifact:read", 3, path="a.txt", bytes=1),
    call("finished", 4, outcome="returned"),
    event("tool:post", 5, tool_call_id="c", tool_result={"success": False, "output": "first"}),
    call("started", 6),
    call("finished", 7, outcome="raised"),
    event("tool:error", 8, tool_call_id="c", error={"type": "OSError", "message": "OSError: gone"}),
]


def open_tool(*items: Any) -> tuple[RecordedTool, TestCoordinator]:
    """The tool of these items, and who hears of its events."""
    playback = Playback(make(*items))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    host = TestCoordinator(session_id="s")
    return RecordedTool("Echo", playback, Outcomes(playback.recording), host), host


async def test_a_call_returns_what_it_returned() -> None:
    """Also if it failed; what the tool told of, it tells of again."""
    tool, host = open_tool(*ITEMS)
    heard: list[str] = []

    async def compare_next(event: str, data: dict[str, Any]) -> None:
        heard.append(data["path"])

    host.hooks.register("artifact:read", compare_next)
    current_call.set(ITEMS[0])  # type: ignore[arg-type]
    result = await tool.execute({})
    assert (result.success, result.output) == (False, "first")
    assert heard == ["a.txt"]


async def test_a_call_with_the_same_id_has_its_own_outcome() -> None:
    """A tool that raised raises again."""
    tool, _ = open_tool(*ITEMS)
    current_call.set(ITEMS[4])  # type: ignore[arg-type]
    with pytest.raises(Exception, match=r"^gone$") as caught:
        await tool.execute({})
    assert type(caught.value).__name__ == "OSError"


async def test_a_call_that_was_not_made_has_no_result() -> None:
    """It says so."""
    tool, _ = open_tool(*ITEMS)
    current_call.set(None)
    assert "no result of this call" in str((await tool.execute({})).error)


async def test_the_list_of_steps_is_kept_where_hooks_read_it() -> None:
    """And its tool stands where it stood."""
    items = [
        call("started", 2),
        call("finished", 3, outcome="returned"),
        event("tool:post", 4, tool_call_id="c", tool_result={"success": True, "output": "as then"}),
    ]
    playback = Playback(make(*items))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    host: Any = TestCoordinator(session_id="s")
    await mount_recorded(host, ["Read", "Todo", "Bash"], playback, Outcomes(playback.recording))
    assert list(host.get("tools")) == ["Read", "Todo", "Bash"]
    current_call.set(items[0])  # type: ignore[arg-type]
    result = await host.get("tools")["Todo"].execute({"todos": [{"content": "test it"}]})
    assert result.output == "as then"
    assert host.todo_state[0]["content"] == "test it"


def test_tools_are_those_that_the_session_had() -> None:
    """Named by requests, choices and calls; a sub-agent that asked nothing has its parent's."""
    recording = make(
        event("provider:request", 1, tools=["A", "B"]),
        event("decision:tool_resolution", 2, available_tools=["B", "C"]),
        event("tool:pre", 3, tool_name="D", left={"tool_name": None}),
    )
    recording.parents["child"] = "s"
    assert list_tools(recording, "s") == ["A", "B", "C", "D"]
    assert list_tools(recording, "child") == ["A", "B", "C", "D"]


def test_tools_tell_of_what_no_loop_tells_of() -> None:
    """Their own events, and calls that no answer of the model asked for."""
    recording = make(
        event("provider:response", 1, response={"tool_calls": [{"id": "asked"}]}),
        event("tool:pre", 2, tool_call_id="asked"),
        event("tool:pre", 3, tool_call_id="inner"),
        event("deploy:start", 4),
        event("session:end", 5),
    )
    assert [one.sequence for one in list_told(recording, "s")] == [3, 4]
