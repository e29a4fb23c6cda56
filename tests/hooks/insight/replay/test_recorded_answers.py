"""The people of a replayed session, and the hooks that do not run."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout, HandedOver
from amplifier_core.errors import ApprovalError
from amplifier_core.hooks import HookRegistry
from amplifier_core.llm_errors import LLMError
from amplifier_core.models import HookResult
from amplifier_core.records import HookAnswer
from amplifier_core.utils import describe_error
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_answers import (
    RecordedApprovals,
    RecordedHooks,
    has_nobody,
    make_exception,
)
from amplifier_hooks.insight.replay.recording import Run, collect_questions
from amplifier_hooks.trails import RecordedHook
from tests.hooks.insight.replay.items import event, note, question
from tests.hooks.insight.replay.test_recording import make

ASKED = ApprovalQuestion(
    "sure?", ("Allow", "Deny"), 60, "deny", "h", digest="d", session_id="s", tool_call_id="c"
)


def answer_with(*items: Any) -> RecordedApprovals:
    """Somebody who answers as these items tell."""
    return RecordedApprovals(Playback(make(*items)))


@pytest.mark.parametrize(
    ("items", "answers"),
    [
        # With who it was, what they said and what they made of the input.
        (
            [
                question("requested", 1),
                question("decided", 2, decision="Allow", by="ann", comment="once", edited=True),
                event("tool:pre", 3, tool_call_id="c", tool_input={"n": 2}, again=True),
            ],
            [ApprovalAnswer("Allow", "ann", "once", {"n": 2})],
        ),
        # Of several questions by what would run, not by the order.
        (
            [
                question("requested", 1, digest="other", call_id="x"),
                question("decided", 2, digest="other", decision="Deny"),
                question("requested", 3),
                question("decided", 4, decision="Allow"),
            ],
            [ApprovalAnswer("Allow"), ApprovalAnswer("Deny")],
        ),
        # What the person of another program said is no answer of ours, then and now.
        (
            [
                question("requested", 1),
                question("handed_over", 2, to="claude", goes_on=True),
                question("outcome", 3, state="allowed"),
            ],
            [HandedOver("claude", goes_on=True)],
        ),
    ],
    ids=["one", "several", "handed over"],
)
async def test_a_question_is_answered_as_it_was(items: list[Any], answers: list[Any]) -> None:
    """By whoever answered it then."""
    person = answer_with(*items)
    assert [await person.decide(ASKED) for _ in answers] == answers


LATE = "nobody decided within 5 s"


@pytest.mark.parametrize(
    ("items", "error", "why"),
    [
        (
            [question("requested", 1), question("expired", 2, how="timeout", detail=LATE)],
            ApprovalTimeout,
            LATE,
        ),
        (
            [question("requested", 1), question("decided", 2, how="error", detail=LATE)],
            ApprovalError,
            LATE,
        ),
        ([event("session:start")], ApprovalError, "nobody was asked this"),
    ],
)
async def test_a_question_that_nobody_decided_stays_undecided(
    items: list[Any], error: type[ApprovalError], why: str
) -> None:
    """For the same reason; one that was not asked has no answer, which is a no."""
    with pytest.raises(error, match=why):
        await answer_with(*items).decide(ASKED)


def test_a_session_that_had_nobody_to_ask_has_nobody() -> None:
    """Its trail says so."""
    assert has_nobody(make(question("decided", 1, how="nobody")))
    assert not has_nobody(make(question("decided", 1, how="person")))


def test_each_question_has_its_own_end() -> None:
    """The first one that is open and about the same has it; an answer for always ends none."""
    found = collect_questions(
        [
            question("requested", 1),
            question("requested", 2),
            question("requested", 3, digest="other"),
            question("remembered", 4),
            question("cancelled", 5),
            question("decided", 6, digest="other"),
        ]
    )
    ends = [(one.request.sequence, one.end and one.end.sequence) for one in found]
    assert ends == [(1, 5), (2, None), (3, 6)]


def test_what_a_person_made_of_an_input_is_judged_next() -> None:
    """It is the input that was judged again, of the same call."""
    (asked,) = collect_questions(
        [
            question("requested", 1),
            question("decided", 2, edited=True),
            event("tool:pre", 3, tool_call_id="x", tool_input={"n": 1}, again=True),
            event("tool:pre", 4, tool_call_id="c", tool_input={"n": 2}, again=True),
        ]
    )
    assert asked.edited_input == {"n": 2}


HOOK = RecordedHook(1, "h", "tool:post", 5)


async def answer(*items: Any, hook: RecordedHook = HOOK) -> HookResult:
    """What a stand-in answers at the first of these items."""
    playback = Playback(make(*items))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    registry = HookRegistry()
    RecordedHooks(playback).register(registry, [hook, hook])
    first = items[0]
    return await registry.emit(first.event, {**first.data, "session_id": "s"})


def said(action: str, **more: Any) -> HookAnswer:
    """What the hook said."""
    return HookAnswer("h", 1, action, **more)


async def test_a_denial_is_repeated_with_its_reason() -> None:
    """And nothing where the hook said nothing."""
    result = await answer(event("tool:post", 1, said("deny", reason="no"), action="deny"))
    assert (result.action, result.reason) == ("deny", "no")
    assert (await answer(event("tool:post", 1))).action == "continue"


async def test_a_change_is_made_again() -> None:
    """Fields that the hook removed are gone."""
    then = event("tool:post", 1, said("modify"), left={"a": 2}, a=1, b=1)
    result = await answer(then)
    assert result.data is not None
    assert (result.data["a"], "b" in result.data) == (2, False)


async def test_what_was_injected_is_injected_again() -> None:
    """All of it, and nothing of the next time."""
    result = await answer(
        event("tool:post", 1, said("inject_context")),
        note("injection_accepted", 2, "h", text="one", role="user", ephemeral=True),
        note("injection_dropped", 3, "h", text="two", role="system"),
        note("injection_accepted", 4, "other", text="not mine"),
        event("tool:post", 5, said("inject_context")),
        note("injection_accepted", 6, "h", text="later"),
    )
    found = [(one.content, one.role, one.ephemeral) for one in result.context_injections]
    assert found == [("one", "user", True), ("two", "system", False)]


async def test_a_question_is_put_again_in_the_same_words() -> None:
    """With the same options; what is judged again asks what it asked before."""
    hook = RecordedHook(1, "h", "tool:pre", 0)
    asked = question("requested", 2, prompt="sure?", options=("Yes", "No"))
    first = event("tool:pre", 1, said("ask_user"), tool_call_id="c", action="ask_user")
    again = event("tool:pre", 3, said("ask_user"), tool_call_id="c", again=True)
    for items in ((first, asked), (again, asked)):
        result = await answer(*items, hook=hook)
        assert (result.approval_prompt, result.approval_options) == ("sure?", ["Yes", "No"])


@pytest.mark.parametrize(("on_error", "action"), [("continue", "continue"), ("deny", "deny")])
async def test_a_hook_that_failed_fails_again(on_error: str, action: str) -> None:
    """A guard denies by it, as it did."""
    hook = RecordedHook(1, "h", "tool:post", 0, on_error=on_error)
    failed = said(action, error="ValueError: broken")
    assert (await answer(event("tool:post", 1, failed), hook=hook)).action == action


async def judge(then: Any, answer: HookResult | None) -> tuple[HookResult, list[str]]:
    """What a hook of today that says this is taken to say, and what was noted."""
    playback = Playback(make(then))
    playback.begin(Run((then,), "ended"))
    registry = HookRegistry()
    RecordedHooks(playback).watch(registry)

    def speak(event: str, data: dict[str, Any]) -> HookResult | None:
        return answer

    registry.register("tool:pre", speak, name="h")
    result = await registry.emit("tool:pre", {**then.data, "session_id": "s"})
    return result, playback.totals.doubtful


async def test_a_hook_that_cannot_see_what_it_saw_says_what_it_said() -> None:
    """Where a secret is masked in the trail; it is noted that nobody can tell."""
    masked: dict[str, Any] = {"tool_input": {"command": "echo [REDACTED:key]"}}
    then = event("tool:pre", 4, said("deny", reason="a secret"), left=masked, **masked)
    result, noted = await judge(then, None)
    assert (result.action, result.reason) == ("deny", "a secret")
    assert noted == ["record 4, tool:pre: tool_input.command is masked; what h had answered stands"]


async def test_a_hook_that_sees_everything_speaks_for_itself() -> None:
    """So does one that says more than it said."""
    plain = event("tool:pre", 4, said("deny"), tool_input={"command": "ls"})
    assert (await judge(plain, None))[0].action == "continue"
    masked: dict[str, Any] = {"tool_input": {"command": "[REDACTED:key]"}}
    quiet = event("tool:pre", 4, left=masked, **masked)
    assert (await judge(quiet, None))[0].action == "continue"
    assert (await judge(quiet, HookResult(action="deny", reason="x")))[0].action == "deny"


@pytest.mark.parametrize(
    ("name", "message", "reads"),
    [
        ("KeyError", "'x'", "KeyError: 'x'"),
        ("MemoryError", "", "MemoryError"),
        ("MemoryError", "MemoryError", "MemoryError"),
        ("not a name", "x", "Exception: x"),
    ],
)
def test_one_that_is_made_again_reads_the_same(name: str, message: str, reads: str) -> None:
    """Whatever its class was; by its base it can be of a kind that somebody catches."""
    assert describe_error(make_exception(name, message)) == reads
    assert isinstance(make_exception("Odd", "x", LLMError), LLMError)
