"""One governed run of an agent or a client: its hooks, its answer and its end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import AgentResponse, Content, Message

from amplifier_core import HookResult
from amplifier_hooks.coverage import AGENT_FRAMEWORK
from amplifier_hooks.frameworks.agent_framework.messages import say_as_agent
from amplifier_hooks.frameworks.agent_framework.middleware import (
    Turn,
    is_governed,
    is_waiting,
    name_end,
    put_last,
)
from tests.adapters.stage import Stage


async def test_ours_comes_after_all_other_middleware(stage: Stage) -> None:
    """However the others were given, and only a run of the same hooks is governed already."""
    hooks = stage.hooks
    turn = Turn(await hooks.open(AGENT_FRAMEWORK), "inline")
    before: Any = [object()]
    added = turn.add_to(before)
    assert added[0] is before[0]
    assert len(added) == 3
    assert [turn.add_to(one)[:-2] for one in (None, before[0])] == [[], before]
    assert is_governed(added, hooks)
    assert not is_governed(added, stage.hooks)
    assert not is_governed(before, hooks)
    later = object()
    assert put_last([*added, later]) == [before[0], later, *added[1:]]


async def test_an_answer_without_a_last_reply_is_judged(stage: Stage) -> None:
    """Other middleware may have given it."""
    stage.answer("prompt:answer", HookResult(action="deny", reason="against the rules"))
    turn = Turn(await stage.hooks.open(AGENT_FRAMEWORK), "inline")
    assert "against the rules" in (await turn.complete(say_as_agent("Hi.")) or "")


async def test_a_turn_that_waits_has_no_answer(stage: Stage) -> None:
    """It goes on with what somebody decides."""
    stage.listen("prompt:answer")
    turn = Turn(await stage.hooks.open(AGENT_FRAMEWORK), "inline")
    call = Content.from_function_call("c", "wipe", arguments={}, id="o")
    asking = Content.from_function_approval_request("o", call)
    waiting: Any = AgentResponse(messages=[Message("assistant", [asking])])
    assert is_waiting(waiting)
    assert await turn.complete(waiting) is None
    assert stage.heard.names == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (None, "complete"),
        (asyncio.CancelledError(), "user_exit"),
        (GeneratorExit(), "user_exit"),
        (TimeoutError(), "timeout"),
        (OSError(), "error"),
    ],
)
def test_an_end_has_a_reason(error: BaseException | None, reason: str) -> None:
    """Hooks and the trail get it."""
    assert name_end(error) == reason
