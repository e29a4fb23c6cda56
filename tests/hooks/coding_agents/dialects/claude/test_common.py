"""What every event of Claude Code has."""

from __future__ import annotations

from amplifier_hooks.coding_agents.dialects.claude import DIALECT
from amplifier_hooks.coding_agents.dialects.claude.common import drop_common
from tests.hooks.coding_agents.dialects.conversation import TOOL, make_call
from tests.hooks.coding_agents.dialects.recordings import load_recording


def test_scripts_find_the_project_and_the_session_in_their_environment() -> None:
    """And a mark by which they know whose hook they are."""
    assert DIALECT.build_environment(make_call("Stop")) == {
        "CLAUDE_PROJECT_DIR": "/project",
        "CLAUDE_CODE_SESSION_ID": "session-1",
        "CLAUDECODE": "1",
    }


def test_a_sub_agents_event_names_the_sub_agent() -> None:
    """The session's own events have no such field."""
    assert "agent_id" not in DIALECT.build_payload(make_call("PreToolUse", TOOL))
    payload = DIALECT.build_payload(make_call("PreToolUse", TOOL, agent_id="child-7"))
    assert payload["agent_id"] == "child-7"


def test_an_events_own_fields_are_those_that_not_every_event_has() -> None:
    """They are what guests are told of events that only the program has."""
    own = drop_common(load_recording("claude", "TaskCreated"))
    assert own == {"task_id": "1", "task_subject": "t1", "task_description": "d"}
