"""Cursor's other events, as we read them."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.cursor_events import SESSION_EVENTS
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import Data
from tests.hooks.coding_agents.dialects.cursor.cursor_payloads import read_event

AGENT: Data = {"parent_session_id": "conv-1", "agent_name": "explore", "task": "Read it"}
EXPECTED: dict[str, tuple[str, Data]] = {
    "beforeSubmitPrompt": ("prompt:submit", {"prompt": "Build it", "metadata": {}}),
    "stop": (
        "orchestrator:complete",
        {
            "orchestrator": "cursor",
            "final_message": {},
            "turn_count": 0,
            "request_count": 0,
            "duration_ms": 0,
            "status": "success",
        },
    ),
    "afterAgentResponse": ("prompt:complete", {"prompt": "", "response": "Built."}),
    "afterAgentThought": ("thinking:final", {"block_index": 0, "thinking": "Hm."}),
    "subagentStart": ("agent:spawn", {**AGENT, "config_override": {}}),
    "subagentStop": (
        "agent:complete",
        {
            **AGENT,
            "result": {"output": "Half of it"},
            "duration_ms": 900,
            "status": "interrupted",
        },
    ),
    "preCompact": (
        "context:pre_compact",
        {
            "trigger": "manual",
            "current_tokens": 182_340,
            "target_tokens": 0,
            "messages_count": 146,
        },
    ),
    "sessionStart": ("session:start", {"mount_plan": {}, "source": "startup"}),
    "sessionEnd": ("session:end", {"reason": "user_exit", "duration_ms": 1200, "stats": {}}),
}


def test_an_event_of_cursor_is_one_of_ours() -> None:
    """With all that our event has."""
    for native in sorted(SESSION_EVENTS):
        incoming = read_event(native)
        assert (incoming.event, incoming.data) == EXPECTED[native], native


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("completed", "complete"),
        ("aborted", "user_exit"),
        ("error", "error"),
        ("user_close", "user_exit"),
        ("something new", "complete"),
        (None, "complete"),
    ],
)
def test_a_session_ends_for_one_of_our_reasons(said: Any, reason: str) -> None:
    """A reason that we do not know is none of trouble."""
    assert read_event("sessionEnd", reason=said).data["reason"] == reason


@pytest.mark.parametrize(
    ("said", "status"),
    [("error", "error"), ("odd", "error"), (7, "error"), ("aborted", "interrupted")],
)
def test_a_turn_ends_in_one_of_our_ways(said: Any, status: str) -> None:
    """What is not known to be a success is an error."""
    assert read_event("stop", status=said).data["status"] == status


def test_a_prompt_comes_with_the_names_of_its_files() -> None:
    """For hooks that look at them."""
    files = [{"type": "file", "filePath": "/project/a"}]
    read = read_event("beforeSubmitPrompt", attachments=files)
    assert read.data == {"prompt": "Build it", "metadata": {"attachments": files}}


@pytest.mark.parametrize("prompt", [None, 7, ["Build"]])
def test_a_prompt_that_is_no_text_is_unreadable(prompt: Any) -> None:
    """So it is not sent."""
    with pytest.raises(UnreadablePayload, match="'prompt' must be a text"):
        read_event("beforeSubmitPrompt", prompt=prompt)


def test_a_subagent_is_known_by_its_id() -> None:
    """Where Cursor tells it."""
    assert read_event("subagentStart").agent_id == "sub-1"
    assert read_event("preToolUse").agent_id == ""
