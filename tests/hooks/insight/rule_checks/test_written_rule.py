"""A rule with what belongs to it."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.insight.rule_checks import StandingGrant
from tests.hooks.insight.rule_checks.rule_files import DENY, read_answering_rules, read_hook_rules


def test_a_rule_that_is_off_or_dry_does_not_act(tmp_path: Path) -> None:
    """Only what acts can be in another rule's way."""
    group = read_hook_rules(tmp_path, DENY, {"enabled": False, **DENY}, {"dry_run": True, **DENY})
    assert [one.acts for one in group.rules] == [True, False, False]


def test_names_are_those_that_people_gave(tmp_path: Path) -> None:
    """Standing rules have an id, of which the beginning is shown."""
    file = read_answering_rules(tmp_path, {"name": "push", "tool": "Bash", "decision": "allow"})
    assert (file.rules[0].name, file.rules[0].allows) == ("push", True)
    assert StandingGrant("0123456789ab", "ann", "h", "Bash", "x").name == "standing rule 01234567"
