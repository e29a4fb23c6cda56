"""Every rule is run on what was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.insight.rule_checks import check_rules
from amplifier_hooks.insight.rule_checks.usage import (
    fill_glob,
    make_question,
    make_sample,
    matches_answering_rule,
    matches_hook_rule,
)
from tests.hooks.insight.rule_checks.rule_files import (
    DENY,
    read_answering_rules,
    read_hook_rules,
    summarize,
)
from tests.support.written_trails import WrittenTrail


@pytest.mark.parametrize(
    "rule",
    [
        {"tool": "Bash", "command": "git push --force|-f"},
        {"command": [{"program": "kube*", "argument": "delete"}]},
        {"tool": ["Write", "Edit"], "path": "**/migrations/**"},
        {"path": "conf/{dev,test}/*.y[am]ml"},
        {"path": "secrets/"},
        {"tool": "mcp__*", "regex": "drop table"},
        {"regex": {"tool_input.url": r"^https://example\.com/"}},
        {"event": "prompt:submit", "regex": {"prompt": "password|secret"}},
        {"event": "tool:*", "tool": "Bash"},
    ],
)
def test_a_sample_fits_the_rule_that_it_is_made_from(tmp_path: Path, rule: dict[str, Any]) -> None:
    """For rules of the usual kinds there is an example to show."""
    group = read_hook_rules(tmp_path, {**rule, **DENY})
    one = group.rules[0]
    assert matches_hook_rule(one, group, make_sample(one.rule, one.rule.event))


def test_a_condition_that_fails_is_no_match(tmp_path: Path) -> None:
    """A sample that a rule fails on shows nothing."""
    group = read_hook_rules(tmp_path, {"when": "tool_input.x > 1", **DENY})
    one = group.rules[0]
    assert not matches_hook_rule(one, group, make_sample(one.rule, one.rule.event))


def test_a_question_is_about_the_sample(tmp_path: Path) -> None:
    """Approval rules are tried on the question that a hook would ask."""
    file = read_answering_rules(
        tmp_path, {"hook": "hooks-*", "command": "make test", "decision": "allow"}
    )
    one = file.rules[0]
    sample = make_sample(one.rule, one.rule.event, fill_glob("hooks-*"))
    assert matches_answering_rule(one, file, sample)
    assert make_question(sample).tool_input == {"command": "make test"}
    assert sample.to_dict() == {
        "event": "tool:pre",
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
    }


def test_matches_are_counted_and_rules_without_any_are_named(tmp_path: Path) -> None:
    """With how much was looked at, and since when."""
    guards = read_hook_rules(
        tmp_path,
        {"command": "git push", **DENY},
        {"path": "src/**", **DENY},
        {"event": "tool:post", **DENY},
    )
    answering = read_answering_rules(
        tmp_path,
        {"command": "make test", "decision": "allow"},
        {"hook": "hooks-other", "decision": "deny"},
    )
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.call("Bash", {"command": "git push"})
        trail.call("Bash", {"command": "git push -f"})
        trail.call("Write", {"file_path": "docs/a"})
        trail.ask("Bash", {"command": "make test"})
    check = check_rules([guards, answering], [trail.path])
    assert [use.matched for use in check.usage.uses] == [2, 0, 0, 1, 0]
    assert (check.usage.trails, check.usage.events, check.usage.questions) == (1, 4, 1)
    assert summarize(check.notes) == [
        ("matched nothing", "r1"),
        ("matched nothing", "r2"),
        ("matched nothing", "r1"),
    ]
    assert "none of 4 events and 1 questions of 1 sessions since 20" in check.notes[0].sentence


def test_what_hooks_left_counts_as_well(tmp_path: Path) -> None:
    """Rules stand late, and judge what others have changed."""
    guards = read_hook_rules(tmp_path, {"command": "git push", **DENY})
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        before = {"tool_input": {"command": "true"}}
        trail.call("Bash", {"command": "git push"}, before=before)
        trail.call("Bash", {"command": "true"}, before={"tool_input": {"command": "git push"}})
    assert [use.matched for use in check_rules([guards], [trail.path]).usage.uses] == [2]


def test_values_that_the_trail_does_not_have_are_counted_apart(tmp_path: Path) -> None:
    """Of those, nobody can tell."""
    guards = read_hook_rules(tmp_path, {"command": "git push", **DENY})
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.call("Bash", {"command": {"$commitment": "00" * 32}})
    check = check_rules([guards], [trail.path])
    assert [(use.matched, use.undecided) for use in check.usage.uses] == [(0, 1)]
    assert "of 1, the trail does not tell" in check.notes[0].sentence


def test_without_trails_nothing_is_said_about_them(tmp_path: Path) -> None:
    """A new folder has nothing that could have matched."""
    assert check_rules([read_hook_rules(tmp_path, DENY)]).findings == ()
