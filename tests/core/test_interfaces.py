"""The protocols of modules, and what a module sees of its host."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.interfaces import (
    ApprovalRequest,
    ApprovalResponse,
    ContextManager,
    HookHandler,
    Host,
    Orchestrator,
    Tool,
    hook,
)
from amplifier_core.testing import EventRecorder, MockContextManager, MockTool, ScriptedOrchestrator


def test_a_coordinator_is_a_host() -> None:
    """What `mount` is given is checked by mypy against what the coordinator has."""
    host: Host = SessionCoordinator()
    assert host.hooks.list_handlers() == {}


@pytest.mark.parametrize(
    ("double", "protocol"),
    [
        (MockTool("t"), Tool),
        (MockContextManager(), ContextManager),
        (ScriptedOrchestrator(), Orchestrator),
        (EventRecorder(), HookHandler),
    ],
)
def test_no_base_class_is_needed(double: Any, protocol: Any) -> None:
    """Whatever has the methods is one; whatever lacks them is not."""
    assert isinstance(double, protocol)
    assert not isinstance(object(), protocol)


def test_a_function_is_marked_and_stays_itself() -> None:
    """A bundle that names the file registers what is marked."""

    def guard(event: str, data: dict[str, Any]) -> None: ...

    assert hook("tool:pre", "tool:post", priority=5)(guard) is guard
    assert vars(guard)["__amplifier_hook__"] == {
        "events": ("tool:pre", "tool:post"),
        "options": {"priority": 5},
    }


@pytest.mark.parametrize("events", [(), (7,), ("tool:pre", None), (lambda event, data: None,)])
def test_a_mark_needs_the_names_of_events(events: tuple[Any, ...]) -> None:
    """`@hook` without brackets is the usual slip."""
    with pytest.raises(TypeError, match="@hook needs the names of events, such as 'tool:pre'"):
        hook(*events)


def test_a_question_and_its_answer_keep_what_they_know() -> None:
    """Fields of newer versions are passed over."""
    request = ApprovalRequest.model_validate({"tool_name": "Bash", "action": "run", "newer": 1})
    assert (request.details, request.timeout) == ({}, None)
    response = ApprovalResponse.model_validate({"approved": False, "newer": 1})
    assert (response.reason, response.remember) == (None, False)


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_question_without_time_is_refused(timeout: float) -> None:
    """Nobody can answer it."""
    with pytest.raises(ValidationError, match="greater than 0"):
        ApprovalRequest(tool_name="Bash", action="run", timeout=timeout)
