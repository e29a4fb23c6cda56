"""What became of an event, of then and of now, in the same form."""

from __future__ import annotations

from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.backtest.verdict import Verdict, read_dispatch, read_recorded
from amplifier_hooks.trails import RecordedEvent


def _record(event: str, action: str, *answers: HookAnswer) -> Verdict:
    recorded = RecordedEvent(
        sequence=1, time="", session="s", turn=1, event=event, data={}, left={"a": 1},
        answers=answers, action=action,
    )  # fmt: skip
    return read_recorded(recorded, recorded.left)


async def _run(event: str, *results: HookResult) -> Verdict:
    registry = HookRegistry()
    for number, result in enumerate(results):

        async def answer(event: str, data: Any, result: HookResult = result) -> HookResult:
            return result

        registry.register(event, answer, number, f"hook{number}")
    return read_dispatch(await registry.dispatch(event, {"a": 1}), ())


async def test_the_strongest_answer_decides_then_as_now() -> None:
    """By action, and of equal ones the first."""
    then = _record(
        "tool:pre",
        "ask_user",
        HookAnswer("hook0", 1, "inject_context"),
        HookAnswer("hook1", 2, "ask_user"),
    )
    ask = HookResult(action="ask_user", approval_prompt="really?")
    now = await _run("tool:pre", HookResult(action="inject_context", context_injection="x"), ask)
    assert (then.action, then.hook, then.injecting) == ("ask_user", "hook1", ("hook0",))
    assert (now.action, now.hook, now.injecting) == ("ask_user", "hook1", ("hook0",))
    assert now.asking[0].prompt == "really?"


async def test_what_only_tells_of_something_cannot_be_stopped_or_changed() -> None:
    """A denial of session:end denies nothing."""
    now = await _run("session:end", HookResult(action="deny", reason="stay"))
    then = _record("session:end", "deny", HookAnswer("hook0", 1, "deny"))
    assert now.action == then.action == "continue"
    assert now.left == then.left == {}


def test_an_answer_behind_a_denial_counts_for_nothing() -> None:
    """It had no effect then."""
    behind = HookAnswer("late", 2, "inject_context", unheeded=True)
    then = _record("tool:pre", "deny", HookAnswer("first", 1, "deny"), behind)
    assert (then.hook, then.injecting) == ("first", ())
