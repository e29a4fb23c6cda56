"""Hooks that do not run in a replay."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_foundation.history import RecordedAnswer, RecordedHook
from amplifier_foundation.replay.playback import Playback
from amplifier_foundation.replay.recording import Run
from amplifier_foundation.replay.stand_ins.hooks import RecordedHooks
from tests.foundation.replay.items import event, note, question
from tests.foundation.replay.test_recording import make

HOOK = RecordedHook(1, "h", "tool:post", 5)


async def answer(*items: Any, hook: RecordedHook = HOOK) -> HookResult:
    """What a stand-in answers at the first of these items."""
    playback = Playback(make(*items))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    registry = HookRegistry()
    RecordedHooks(playback).register(registry, [hook, hook])
    first = items[0]
    return await registry.emit(first.event, {**first.data, "session_id": "s"})


def said(action: str, **more: Any) -> RecordedAnswer:
    """What the hook said."""
    return RecordedAnswer("h", 1, action, **more)


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
