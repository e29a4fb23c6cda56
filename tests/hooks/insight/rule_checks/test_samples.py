"""Events made from rules, on which the rules are really run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.insight.rule_checks.samples import (
    fill_glob,
    make_question,
    make_sample,
    matches_answering_rule,
    matches_hook_rule,
)
from tests.hooks.insight.rule_checks.rule_files import DENY, read_answering_rules, read_hook_rules


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
