"""Which hooks want an event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import Config
from amplifier_hooks.coding_agents.shell_hooks.selector import Selector
from tests.support.harness import Harness

Data = dict[str, Any]
BASH: Data = {"tool_name": "Bash"}
LS = {"command": "ls"}
GIT = {"command": "git status"}


def make_handler(native: str = "PreToolUse", where: str = "a", **fields: Any) -> Handler:
    return Handler(
        dialect=fields.pop("dialect", "claude"),
        native=native,
        where=where,
        command="true",
        **fields,
    )


def make_selector(harness: Harness, *handlers: Handler, **config: Any) -> Selector:
    return Selector(harness.coordinator, Config(**config), handlers)


def select(selector: Selector, event: str, **data: Any) -> list[str]:
    return [handler.where for handler, _ in selector.select(event, data)]


def test_a_hook_stands_under_every_event_that_it_may_run_at(harness: Harness) -> None:
    """A failed tool is told in two ways, so its hook listens to both."""
    selector = make_selector(
        harness, make_handler(), make_handler("PostToolUseFailure", "b"), make_handler(where="c")
    )
    found = {event: [one.where for one in those] for event, those in selector.by_event.items()}
    assert found == {"tool:pre": ["a", "c"], "tool:error": ["b"], "tool:post": ["b"]}


def test_a_failed_tool_is_a_failure_and_not_a_use(harness: Harness) -> None:
    """Of two hooks for the two outcomes exactly one runs."""
    selector = make_selector(
        harness, make_handler("PostToolUse", "use"), make_handler("PostToolUseFailure", "failure")
    )
    assert select(selector, "tool:post", tool_name="Bash", success=True) == ["use"]
    assert select(selector, "tool:post", tool_name="Bash", success=False) == ["failure"]
    assert select(selector, "tool:error", tool_name="Bash", error="x") == ["failure"]


def test_a_hook_that_runs_once_is_spent_by_being_selected(harness: Harness) -> None:
    """An event that was not for it does not spend it."""
    selector = make_selector(harness, make_handler(once=True, matcher="Bash"))
    names = ["Read", "Bash", "Bash"]
    assert [select(selector, "tool:pre", tool_name=name) for name in names] == [[], ["a"], []]


def test_a_call_carries_what_the_session_is(tmp_path: Path) -> None:
    """Its id, its folder, its transcript, and how often a stop was blocked."""
    harness = Harness(tmp_path, session_id="session-1")
    harness.coordinator.register_capability("session.transcript_path", "/t/1.jsonl")
    selector = make_selector(harness, make_handler("Stop"))
    [(_, call)] = selector.select("orchestrator:complete", {"status": "success"}, 3)
    assert (call.event, call.native) == ("orchestrator:complete", "Stop")
    assert (call.session_id, call.agent_id) == ("session-1", None)
    assert (call.cwd, call.transcript) == (str(tmp_path), "/t/1.jsonl")
    assert call.blocked_stops == 3
    # A sub-agent's events come to the same hooks, so they must be told apart.
    elsewhere = make_selector(harness, make_handler(), project_dir="/elsewhere")
    [(_, call)] = elsewhere.select("tool:pre", {"tool_name": "Bash", "session_id": "child-7"})
    assert (call.session_id, call.agent_id) == ("session-1", "child-7")
    assert call.cwd == "/elsewhere"


def test_a_question_is_told_with_the_input_that_it_is_about(harness: Harness) -> None:
    """The question itself does not carry it; an input that it does carry is left alone."""
    selector = make_selector(harness, make_handler("PermissionRequest"))
    selector.remember_input({"tool_name": "Bash", "tool_input": {"command": "deploy"}})
    [(_, call)] = selector.select("approval:required", {"tool_name": "Bash"})
    assert call.input == {"command": "deploy"}
    [(_, call)] = selector.select(
        "approval:required", {"tool_name": "Bash", "tool_input": {"a": 1}}
    )
    assert call.input == {"a": 1}
    [(_, call)] = selector.select("approval:required", {"tool_name": "Read"})
    assert call.input == {}
    for odd in (None, "deploy", ["deploy"]):
        selector.remember_input({"tool_name": "Bash", "tool_input": odd})
        [(_, call)] = selector.select("approval:required", {"tool_name": "Bash"})
        assert call.input == {}


@pytest.mark.parametrize(
    ("handler", "event", "data", "runs"),
    [
        # Claude knows our Todo and Delegate as TodoWrite and Task.
        ({"matcher": "TodoWrite|Task"}, "tool:pre", {"tool_name": "Todo"}, True),
        ({"matcher": "TodoWrite|Task"}, "tool:pre", {"tool_name": "Delegate"}, True),
        ({"matcher": "TodoWrite|Task"}, "tool:pre", {"tool_name": "Task"}, True),
        ({"matcher": "TodoWrite|Task"}, "tool:pre", {"tool_name": "Read"}, False),
        (
            {"native": "SessionStart", "matcher": "resume"},
            "session:start",
            {"source": "resume"},
            True,
        ),
        (
            {"native": "SessionStart", "matcher": "resume"},
            "session:start",
            {"source": "startup"},
            False,
        ),
        ({"condition": "Bash(git *)"}, "tool:pre", {**BASH, "tool_input": LS}, False),
        ({"condition": "Bash(git *)"}, "tool:pre", {**BASH, "tool_input": GIT}, True),
    ],
)
def test_matchers_and_rules_keep_a_hook_from_being_started(
    harness: Harness, handler: Data, event: str, data: Data, runs: bool
) -> None:
    """By both names of a tool, by its input, or by the event's own field."""
    selector = make_selector(harness, make_handler(**handler))
    assert select(selector, event, **data) == (["a"] if runs else [])
