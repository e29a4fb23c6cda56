"""The model of a replayed session."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import ChatRequest
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_model import (
    RecordedModel,
    collect_outcomes,
    find_room,
    make_error,
)
from amplifier_hooks.insight.replay.recording import CannotReplay, Run
from tests.hooks.insight.replay.items import event
from tests.hooks.insight.replay.test_recording import make

REQUEST = ChatRequest(messages=[])
SAID = {"content": [{"type": "text", "text": "hello"}], "tool_calls": None, "usage": None}
BUSY = {"type": "RateLimitError", "message": "slow down", "retryable": True, "status_code": 429}


def open_model(*items: Any, keep_going: bool = False) -> RecordedModel:
    """The model of these items, with its first request under way."""
    playback = Playback(make(*items), keep_going=keep_going)
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    playback.hear(event("provider:request"))
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
