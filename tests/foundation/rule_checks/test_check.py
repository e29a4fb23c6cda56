"""All checks together."""

from __future__ import annotations

from pathlib import Path

from amplifier_foundation.rule_checks import check_rules
from tests.foundation.rule_checks.rule_files import DENY, read_hook_rules, summarize


def test_a_rule_that_never_matches_has_one_finding(tmp_path: Path) -> None:
    """That it is shadowed, or matched nothing, goes without saying."""
    dead = {"tool": "Write", "command": "git push", **DENY}
    check = check_rules([read_hook_rules(tmp_path, {"tool": "Write", **DENY}, dead)])
    assert summarize(check.findings) == [("never matches", "r1")]
    assert (check.rules, len(check.problems), len(check.notes)) == (2, 1, 0)


def test_rules_without_a_fault_have_no_finding(tmp_path: Path) -> None:
    """Nothing is said about rules that do what they say."""
    group = read_hook_rules(tmp_path, {"command": "git push", **DENY}, {"path": "src/**", **DENY})
    assert check_rules([group]).findings == ()
