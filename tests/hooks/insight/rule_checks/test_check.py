"""All checks together."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.insight.rule_checks import check_rules
from tests.hooks.insight.rule_checks.rule_files import DENY, read_hook_rules, summarize
from tests.support.written_trails import WrittenTrail


def test_a_rule_that_never_matches_has_one_finding(tmp_path: Path) -> None:
    """That it is shadowed, or matched nothing, goes without saying."""
    dead = {"tool": "Write", "command": "git push", **DENY}
    check = check_rules([read_hook_rules(tmp_path, {"tool": "Write", **DENY}, dead)])
    assert summarize(check.findings) == [("never matches", "r1")]
    assert (check.rules, len(check.problems), len(check.notes)) == (2, 1, 0)


def test_a_shadowed_rule_is_not_also_called_quiet(tmp_path: Path) -> None:
    """It cannot be heard; a rule that nothing has matched yet is another matter."""
    group = read_hook_rules(
        tmp_path, {"tool": "Bash", **DENY}, {"command": "ls", "tool": "Bash", **DENY}
    )
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.call("Write", {"file_path": "a"})
    check = check_rules([group], [trail.path])
    assert summarize(check.findings) == [("shadowed", "r1", "r0"), ("matched nothing", "r0")]


def test_rules_without_a_fault_have_no_finding(tmp_path: Path) -> None:
    """Nothing is said about rules that do what they say."""
    group = read_hook_rules(tmp_path, {"command": "git push", **DENY}, {"path": "src/**", **DENY})
    assert check_rules([group]).findings == ()
