"""What the author of a hook probably did not mean, seen in an answer that is valid."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.answers import NO_PROMPT, NO_TEXT, find_omission
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, injects, modifies, returns, says

DATA = {"tool_name": "Bash", "tool_input": {}, "session_id": "s", "parent_id": None}


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        ({"action": "modify", "data": {"tool_input": {"a": 1}}}, "without 'tool_name', so"),
        ({"action": "modify", "data": {}}, "without 'tool_input', 'tool_name', so"),
        ({"action": "ask_user"}, NO_PROMPT),
        ({"action": "ask_user", "approval_prompt": ""}, NO_PROMPT),
        ({"action": "inject_context"}, NO_TEXT),
        ({"action": "inject_context", "context_injections": [{"content": ""}]}, NO_TEXT),
    ],
)
def test_what_an_action_lives_by_is_missed(fields: dict[str, Any], advice: str) -> None:
    """Fields that the registry adds are missed by nobody."""
    found = find_omission(HookResult(**fields), DATA)
    assert found is not None
    assert advice in found


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "modify", "data": {"tool_name": "Bash", "tool_input": {"a": 1}}},
        {"action": "ask_user", "approval_prompt": "Go on?"},
        {"action": "inject_context", "context_injection": "text"},
        {"action": "inject_context", "context_injections": [{"content": "text"}]},
        {"action": "deny"},
        {},
    ],
)
def test_a_complete_answer_needs_no_advice(fields: dict[str, Any]) -> None:
    """A deny without a reason is one all the same."""
    assert find_omission(HookResult(**fields), DATA) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"action": "modify", "data": {}}, "Return data={**data, ...} to keep"),
        ({"action": "ask_user"}, "asked 'Allow this operation?'"),
        ({"action": "inject_context"}, "so nothing is injected"),
    ],
)
async def test_the_author_is_told_once(
    fields: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log, and on the screen if there is one; not again at each event."""
    harness = Harness()
    harness.hooks.register(PRE, says(**fields), name="mine")
    for tool in ("Bash", "Read"):
        await harness.run(PRE, tool_name=tool, more=tool)
    [(text, _, source)] = [one for one in harness.shown if one[1] == "warning"]
    assert said in text
    assert source == "hook:mine"
    assert len([one for one in caplog.records if said in one.message]) == 1


async def test_without_a_session_the_log_has_it(caplog: pytest.LogCaptureFixture) -> None:
    """Who only emits has no screen."""
    registry = HookRegistry()
    registry.register(PRE, says("modify", data={}), name="mine")
    for _ in range(2):
        await registry.emit(PRE, {"x": 1})
    assert [one.message.partition(",")[0] for one in caplog.records] == [
        "Hook 'mine' on 'tool:pre' answered 'modify' without 'x'"
    ]


async def test_complete_answers_are_not_commented(caplog: pytest.LogCaptureFixture) -> None:
    """Every action as it is meant."""
    harness = Harness()
    for one in (modifies(x=2), asks(), injects("text"), returns({"action": "continue"})):
        harness.hooks.register(PRE, one)
    await harness.run(PRE, x=1)
    assert not [one for one in harness.shown if one[1] == "warning"]
    assert "without" not in caplog.text
