"""Copilot CLI's events in camelCase: when they happen, and what an answer can do."""

from __future__ import annotations

import pytest

from amplifier_foundation.dialects import Dialect
from amplifier_foundation.dialects.copilot import CLAUDE_FORM, DIALECT
from amplifier_foundation.dialects.copilot.events import EVENTS
from amplifier_foundation.dialects.reading import name_event
from tests.foundation.dialects.conversation import make_call, read


@pytest.mark.parametrize(
    ("native", "event", "powers", "gate", "noisy"),
    [
        ("preToolUse", "tool:pre", {"deny", "rewrite", "inject", "ask", "allow"}, True, False),
        ("permissionRequest", "guest:permission_request", {"deny", "allow"}, True, False),
        ("postToolUse", "tool:post", {"deny", "replace", "inject"}, True, False),
        ("postToolUseFailure", "tool:error", {"inject"}, False, False),
        ("preMcpToolCall", "guest:pre_mcp_tool_call", set(), False, True),
        ("userPromptSubmitted", "prompt:submit", {"deny", "rewrite", "inject"}, True, False),
        ("userPromptTransformed", "guest:user_prompt_transformed", set(), False, True),
        ("agentStop", "orchestrator:complete", {"deny"}, False, False),
        ("subagentStart", "agent:spawn", {"inject"}, False, False),
        ("subagentStop", "agent:complete", {"deny"}, False, False),
        ("sessionStart", "session:start", {"inject"}, False, False),
        ("sessionEnd", "session:end", set(), False, False),
        ("preCompact", "context:pre_compact", set(), False, False),
        ("notification", "user:notification", set(), False, False),
        ("errorOccurred", "error:orchestration", set(), False, False),
    ],
)
def test_an_event_has_the_powers_that_were_measured(
    native: str, event: str, powers: set[str], gate: bool, noisy: bool
) -> None:
    """With version 1.0.102."""
    row = EVENTS[native]
    assert name_event(native, row) == event
    assert (set(row.powers), row.gate, row.noisy) == (powers, gate, noisy)


@pytest.mark.parametrize("dialect", [DIALECT, CLAUDE_FORM])
def test_every_gate_can_be_closed_without_us(dialect: Dialect) -> None:
    """By an exit code, or where that does not block, by what is printed."""
    for native, row in dialect.events.items():
        if row.gate and row.refusal:
            assert read(dialect, native, row.refusal).decision == "deny"
        elif row.gate:
            assert read(dialect, native, code=2).decision == "deny"


def test_a_notification_is_matched_by_its_type_and_a_session_by_nothing() -> None:
    """Only tools and notifications have matchers."""
    call = make_call("notification", {"notification_type": "alert"})
    assert DIALECT.list_matched(call) == ("alert",)
    assert DIALECT.list_matched(make_call("sessionStart", {"source": "new"})) == ()
