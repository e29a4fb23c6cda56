"""One rule as it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.guards.rules.engine import build_answer
from amplifier_hooks.guards.rules.matching import EventView
from amplifier_hooks.guards.rules.rule import (
    CommandMatch,
    Rule,
    as_list,
    read_command_patterns,
)

DENY: dict[str, Any] = {"name": "r", "action": "deny", "reason": "no"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"event": "tool:prre"}, "did you mean 'tool:pre'?"),
        ({"event": "nonsense"}, "no event 'nonsense' is known; one"),
        ({"event": []}, "is empty"),
        ({"tool": ""}, "is empty; leave it out"),
        ({"path": []}, "is empty; leave it out"),
        ({"tool": ["Bash", " "]}, "is empty; leave it out"),
        ({"reason": None}, "action 'deny' needs 'reason'"),
        ({"access": "read"}, "'access' says how 'path' is used"),
        ({"approval_prompt": "Sure?"}, "'approval_prompt' belongs to action 'ask_user'"),
        ({"data": {}}, "'data' belongs to action 'modify'"),
        ({"action": "stop"}, "action"),
        ({"approval_timeout": 0}, "approval_timeout"),
        ({"name": ""}, "name"),
        ({"unknown": 1}, "unknown"),
        ({"unless": {"name": "x"}}, "unless.name"),
        ({"command": {"flag": ["-f"], "programm": "git"}}, "programm"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Rule(**{**DENY, **changes})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "event", ["tool:pre", "error:tool", ["tool:*", "session:start"], "*", "deploy:finished"]
)
def test_events_of_ours_patterns_and_events_of_others_are_welcome(event: Any) -> None:
    """Somebody else's event has a colon and is like none of ours."""
    assert Rule(**{**DENY, "event": event}).event == event


@pytest.mark.parametrize(
    ("action", "needed"),
    [
        ("modify", {"data": {"tool_input": {}}}),
        ("inject_context", {"context_injection": "Mind."}),
        ("ask_user", {"approval_prompt": "Sure?"}),
        ("deny", {"reason": "no"}),
        ("continue", {}),
    ],
)
def test_each_action_needs_its_own_field(action: str, needed: dict[str, Any]) -> None:
    rule = Rule.model_validate({"name": "r", "action": action, **needed})
    assert rule.guards is (action in {"deny", "ask_user"})
    if needed:
        with pytest.raises(ValidationError, match="needs"):
            Rule.model_validate({"name": "r", "action": action})


def test_a_reason_is_asked_where_there_is_no_prompt() -> None:
    """A hook in Python needs no prompt either."""
    rule = Rule.model_validate({"name": "r", "action": "ask_user", "reason": "It costs money."})
    answer = build_answer(rule, EventView("tool:pre", {}, Path()))
    assert (answer.approval_prompt, answer.reason) == ("It costs money.", "It costs money.")


@pytest.mark.parametrize(
    ("value", "expected"), [(None, []), ("a", ["a"]), (["a", "b"], ["a", "b"]), ([], [])]
)
def test_one_or_many_are_a_list(value: Any, expected: list[str]) -> None:
    assert as_list(value) == expected


def test_a_list_is_a_copy() -> None:
    given = ["a"]
    as_list(given).append("b")
    assert given == ["a"]


def test_commands_are_texts_or_parts() -> None:
    """Program names are compared without regard to case."""
    parts = CommandMatch(program=["Git", "hg"], flag="--force", argument=None)
    assert read_command_patterns(None) == ()
    assert len(read_command_patterns("git push --force")) == 1
    text, split = read_command_patterns(["git push --force", parts])
    assert text == read_command_patterns("git push --force")[0]
    assert split.matches_name("git")
    assert split.matches_name("hg")
    assert not split.matches_name("svn")
