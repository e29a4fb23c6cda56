"""What is kept of a conversation: pieces that belong together, and what an agent needs most."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.models import HookResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.contexts.simple import (
    LEFT_OUT,
    STRATEGIES,
    SimpleContext,
    SimpleContextConfig,
    group_messages,
)
from tests.support.hooks import modifies, says


def measure(message: dict[str, Any]) -> int:
    return len(message["content"]) + 4


def message(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "metadata": {}, **more}


def talk(results: list[int]) -> list[dict[str, Any]]:
    """A task, and calls whose results have these lengths."""
    made = [message("user", "the task")]
    for number, length in enumerate(results):
        made.append(message("assistant", "", tool_calls=[{"id": str(number)}]))
        made.append(message("tool", "x" * length, tool_call_id=str(number)))
    return made


def test_everything_between_a_call_and_its_last_result_is_one_piece() -> None:
    """A message between two results of parallel calls belongs to them."""
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "tool_calls": [{"id": "1"}, {"id": "2"}]},
        {"role": "tool", "tool_call_id": "1"},
        {"role": "system", "content": "late"},
        {"role": "tool", "tool_call_id": "2"},
        {"role": "user"},
    ]
    assert [len(group) for group in group_messages(messages)] == [4, 1]


def test_calls_without_ids_do_not_hold_a_group_open() -> None:
    """Loops of other authors may write them in other words."""
    calls = [{"function": {"name": "Bash"}}]
    talk: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "done"},
        {"role": "user", "content": "next"},
    ]
    assert [len(group) for group in group_messages(talk)] == [2, 1]


def test_old_results_go_first_and_only_as_many_as_must() -> None:
    """shorten-results keeps every call and the newest results."""
    before = talk([300, 300, 300])
    kept = STRATEGIES["shorten-results"](before, 800, 2, measure)
    contents = [one["content"] for one in kept if one["role"] == "tool"]
    assert contents == [LEFT_OUT, "x" * 300, "x" * 300]
    assert [one["role"] for one in kept] == [one["role"] for one in before]
    assert before == talk([300, 300, 300])


def test_what_is_behind_something_that_did_not_fit_is_left_out() -> None:
    """The newest groups are kept, without holes; the instructions and the task stay."""
    before = [message("system", "be brief"), *talk([10, 900, 10, 10])]
    kept = STRATEGIES["drop-oldest"](before, 200, 1, measure)
    contents = [one["content"] for one in kept if one["role"] == "tool"]
    assert contents == ["x" * 10, "x" * 10]
    assert [one["role"] for one in kept[:3]] == ["system", "system", "user"]
    assert kept[1]["content"].startswith("4 earlier messages")


@given(st.lists(st.integers(0, 400), max_size=8), st.integers(1, 2000), st.integers(1, 6))
def test_whatever_strategy_calls_keep_their_results(
    results: list[int], target: int, keep_last: int
) -> None:
    """No call stands without its result, the task stays, the newest messages stay as they are."""
    for select in STRATEGIES.values():
        before = talk(results)
        kept = select(before, target, keep_last, measure)
        asked = {call["id"] for one in kept for call in one.get("tool_calls", ())}
        answered = {one["tool_call_id"] for one in kept if one["role"] == "tool"}
        assert asked == answered
        assert before[0] in kept
        assert kept[-keep_last:] == before[-keep_last:] or len(kept) < keep_last + 2
        assert sum(map(measure, kept)) <= sum(map(measure, before)) + 80


@pytest.mark.parametrize(
    "hook",
    [
        modifies(strategy="shorten-results"),
        says(data={"recommended_strategy": "shorten-results"}),
        says(data={"strategy": "shorten-results", "confidence": 0.4}),
    ],
)
async def test_a_hook_can_choose_the_strategy(hook: Any) -> None:
    """decision:context_resolution is "fired to resolve context decisions"."""
    coordinator = TestCoordinator()
    coordinator.hooks.register("decision:context_resolution", hook)
    one = SimpleContext(SimpleContextConfig(max_tokens=200, keep_last=1), coordinator)
    for each in talk([400, 400, 10]):
        one.add_message(each)
    assert await one.compact() is True
    contents = [each["content"] for each in one.messages if each["role"] == "tool"]
    assert contents == [LEFT_OUT, LEFT_OUT, "x" * 10]


async def test_a_hook_can_veto_a_compaction_before_it_is_prepared() -> None:
    """A deny of decision:context_resolution: nothing is compacted, nothing more is announced."""
    coordinator = TestCoordinator()
    heard: list[str] = []

    async def note(event: str, data: dict[str, Any]) -> HookResult:
        heard.append(event)
        return HookResult(action="continue")

    coordinator.hooks.register("decision:context_resolution", says("deny", reason="keep it"))
    coordinator.hooks.register("context:*", note)
    one = SimpleContext(SimpleContextConfig(max_tokens=50, keep_last=1), coordinator)
    for each in talk([400, 400]):
        one.add_message(each)
    assert await one.compact() is False
    assert (len(one.messages), heard) == (5, [])
