"""A record as a caller sees it."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.mcp.server.bounds import BRIEF
from amplifier_hooks.mcp.server.policy.masking import build_presenter
from amplifier_hooks.mcp.server.trail.record import show_record
from tests.hooks.mcp.server.world import SECRET

RECORD: dict[str, Any] = {
    "seq": 7,
    "time": "2026-11-15T09:30:00Z",
    "session": "child",
    "type": "dispatch",
    "event": "tool:pre",
    "hook": None,
    "body": {"data": {"tool_name": "Bash", "tool_input": {"command": f"echo {SECRET}"}}},
}


def test_a_record_names_its_trail_its_number_and_its_tool() -> None:
    """And the sub-agent, where it is of one; its texts are masked."""
    shown = show_record(RECORD, "parent", build_presenter(None), BRIEF)
    assert (shown.session, shown.sequence, shown.agent, shown.tool) == (
        "parent",
        7,
        "child",
        "Bash",
    )
    assert shown.body["data"]["tool_input"]["command"] == "echo [REDACTED:github-token]"
    assert show_record(RECORD, "child", build_presenter(None), BRIEF).agent is None


def test_members_of_the_wrong_type_are_shown_as_text() -> None:
    """A forged record may have anything there."""
    forged = {**RECORD, "hook": ["x" * 500], "event": 5, "session": None}
    shown = show_record(forged, "parent", build_presenter(None), BRIEF)
    assert (shown.event, len(shown.hook or ""), shown.agent) == ("5", 200, None)
