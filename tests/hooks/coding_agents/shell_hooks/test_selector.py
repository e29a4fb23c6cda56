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


def test_a_matcher_is_compared_with_both_names_of_a_tool(harness: Harness) -> None:
    """Claude knows our Todo and Delegate as TodoWrite and Task."""
    selector = make_selector(harness, make_handler(matcher="TodoWrite|Task"))
    for name, wanted in [("Todo", ["a"]), ("Delegate", ["a"]), ("Task", ["a"]), ("Read", [])]:
        assert select(selector, "tool:pre", tool_name=name) == wanted


def test_a_matcher_of_an_event_without_tools_is_compared_with_its_own_field(
    harness: Harness,
) -> None:
    """SessionStart hooks may be for resumed sessions only."""
    selector = make_selector(harness, make_handler("SessionStart", matcher="resume"))
    assert select(selector, "session:start", source="resume") == ["a"]
    assert select(selector, "session:start", source="startup") == []


def test_a_rule_keeps_a_hook_from_being_started(harness: Harness) -> None:
    """`if` looks at the input of the tool."""
    selector = make_selector(harness, make_handler(condition="Bash(git *)"))
    call: Data = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert select(selector, "tool:pre", **call) == []
    call["tool_input"] = {"command": "git status"}
    assert select(selector, "tool:pre", **call) == ["a"]


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


def test_a_sub_agents_call_names_the_session_and_the_sub_agent(harness: Harness) -> None:
    """Its events come to the same hooks, so they must be told apart."""
    selector = make_selector(harness, make_handler())
    [(_, call)] = selector.select("tool:pre", {"tool_name": "Bash", "session_id": "child-7"})
    assert (call.session_id, call.agent_id) == ("test-session", "child-7")


def test_the_folder_of_the_project_can_be_configured(harness: Harness) -> None:
    """`project_dir` comes before the working directory."""
    selector = make_selector(harness, make_handler(), project_dir="/elsewhere")
    [(_, call)] = selector.select("tool:pre", {"tool_name": "Bash"})
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


@pytest.mark.parametrize("given", [None, "deploy", ["deploy"]])
def test_an_odd_input_is_remembered_as_an_empty_one(harness: Harness, given: Any) -> None:
    """Nothing that an event carries may break the question about it."""
    selector = make_selector(harness, make_handler("PermissionRequest"))
    selector.remember_input({"tool_name": "Bash", "tool_input": given})
    [(_, call)] = selector.select("approval:required", {"tool_name": "Bash"})
    assert call.input == {}
