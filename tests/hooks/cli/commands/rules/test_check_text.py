"""What `amplifier rules check` prints."""

from __future__ import annotations

import pytest

from amplifier_hooks.cli.commands.rules.text import check_to_dict, print_check
from amplifier_hooks.insight.rule_checks import Check, Finding, Usage

SHADOWED = Finding(
    "shadowed",
    ("narrow", "wide"),
    ("rules.yaml:7", "rules.yaml:2"),
    "whatever 'narrow' matches, 'wide' has denied before",
    {"event": "tool:pre", "tool_name": "Bash", "tool_input": {"command": "git push\x1b[2J"}},
)
QUIET = Finding("matched nothing", ("quiet",), ("rules.yaml:9",), "matched none of 5 events")


def test_problems_come_before_notes_and_all_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its rules, its place, a sentence and an example in which nothing acts."""
    print_check(Check(3, (QUIET, SHADOWED), Usage()))
    printed = capsys.readouterr().out
    assert printed.index("narrow: shadowed by wide") < printed.index("quiet: matched nothing")
    assert "rules.yaml:7, rules.yaml:2" in printed
    assert 'for example tool:pre Bash {"command": "git push' in printed
    assert "\x1b[2J" not in printed
    assert printed.endswith("✗ 3 rules: 1 problem, 1 note\n")


def test_nothing_to_find_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """As is nothing to look at."""
    print_check(Check(1, (), Usage()))
    assert capsys.readouterr().out == "✓ 1 rule: no problems\n"
    print_check(Check(0, (), Usage()))
    assert "There are no rules to check" in capsys.readouterr().out


def test_json_has_problems_and_notes_apart() -> None:
    """For programs, with everything that is known of a finding."""
    found = check_to_dict(Check(3, (QUIET, SHADOWED), Usage()))
    assert found["problems"][0]["rules"] == ("narrow", "wide")
    assert found["notes"][0]["kind"] == "matched nothing"
