"""Requests, responses, judges."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.daemon.request import Judge, Request, Response
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from tests.support.guest_resident import PlayedJudge


def test_a_request_needs_no_more_than_its_event() -> None:
    """What the client could not tell is empty, and nothing can be changed afterwards."""
    request = Request("claude", "PreToolUse", b"{}", 5.0)
    assert (request.cwd, request.bundle, request.marks) == ("", "", frozenset())
    with pytest.raises(AttributeError):
        request.event = "Stop"  # type: ignore[misc]


def test_an_empty_response_is_no_opinion() -> None:
    """Exit code 0 and not a byte."""
    assert Response() == Response(0, b"", b"")


@pytest.mark.parametrize("kind", [AgentJudge, PlayedJudge])
def test_judges_can_all_be_asked_the_same(kind: type[Judge]) -> None:
    """The real one and the one of the tests have what the server calls."""
    names = [name for name in vars(Judge) if not name.startswith("_")]
    assert [name for name in names if not callable(getattr(kind, name, None))] == []
