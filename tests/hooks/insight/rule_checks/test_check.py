"""All checks together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.insight.rule_checks import StandingGrant, check_rules
from tests.hooks.insight.rule_checks.rule_files import (
    ASK,
    DENY,
    find,
    read_answering_rules,
    read_hook_rules,
    summarize,
)
from tests.support.written_trails import WrittenTrail

PUSH = {"tool": "Bash", "command": "git push"}
FORCE = {"tool": "Bash", "command": "git push --force|-f"}
TELL = {"action": "inject_context", "context_injection": "careful"}


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (PUSH, FORCE),
        ({"tool": "bash"}, PUSH),
        ({"event": "tool:*"}, {"event": "tool:post", "tool": "Write"}),
        ({"path": "src/**"}, {"path": ["src/*.py", "src/a/b.c"], "tool": ["Write", "Bash"]}),
        ({"command": "git"}, {"command": {"program": "git", "flag": "--force"}}),
        ({"command": ["git", "make"]}, {"command": ["make clean", "git push origin"]}),
        ({"regex": "push"}, {"regex": "git push"}),
        ({"when": "tool_name == 'LS'"}, {"when": "tool_name == 'LS'", "tool": "LS"}),
        (
            {**PUSH, "unless": {"command": "git push origin"}},
            {**PUSH, "regex": "x", "unless": {"command": "git push origin"}},
        ),
    ],
)
def test_what_is_denied_before_is_shadowed(
    tmp_path: Path, wide: dict[str, Any], narrow: dict[str, Any]
) -> None:
    """Denials count in their order, and before every other answer wherever they are written."""
    assert summarize(find(tmp_path, {**wide, **DENY}, {**narrow, **DENY})) == [
        ("shadowed", "r1", "r0")
    ]
    assert find(tmp_path, {**narrow, **DENY}, {**wide, **DENY}) == []
    for answer in (ASK, TELL):
        found = find(tmp_path, {**narrow, **answer}, {**wide, **DENY})
        assert summarize(found) == [("shadowed", "r0", "r1")]


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ({"command": "git push"}, {"tool": "Bash"}),
        ({"tool": "Bash"}, {"command": "git push"}),
        ({"path": "src/**"}, {"path": "**/*.py"}),
        ({"command": "git push --force"}, {"command": "git push --force|-f"}),
        ({"command": "git push origin"}, {"command": "git origin push"}),
        ({"tool": "Bash", "unless": {"command": "git push"}}, {"tool": "Bash", "regex": "x"}),
        (
            {"tool": "Bash", "unless": {"command": "git status"}},
            {"tool": "Bash", "command": "ls", "unless": {"command": "git status"}},
        ),
        ({"regex": {"tool_input.a": "x"}}, {"regex": "x"}),
        ({"tool": "Bash", "dry_run": True}, {"tool": "Bash", "command": "ls"}),
        ({"event": "tool:pre"}, {"event": "tool:*"}),
    ],
)
def test_what_is_not_sure_is_not_said(
    tmp_path: Path, wide: dict[str, Any], narrow: dict[str, Any]
) -> None:
    """A rule that may still have its say is let alone."""
    assert find(tmp_path, {**wide, **DENY}, {**narrow, **ASK}) == []


def test_a_change_is_made_before_anything_is_denied(tmp_path: Path) -> None:
    """So a rule that changes data is shadowed by no denial."""
    change = {"action": "modify", "data": {"tool_input": {"timeout": 1}}}
    assert find(tmp_path, {"tool": "Bash", **DENY}, {**PUSH, **change}) == []


def test_the_example_is_an_event_that_both_rules_match(tmp_path: Path) -> None:
    """With it, a person can try the rules."""
    (found,) = find(tmp_path, {**PUSH, **DENY}, {**FORCE, **ASK})
    assert found.example == {
        "event": "tool:pre",
        "tool_name": "Bash",
        "tool_input": {"command": "git push --force"},
    }
    file = tmp_path / "rules.yaml"
    assert found.places == (f"{file}:3", f"{file}:2")


def test_different_answers_to_the_same_are_a_contradiction(tmp_path: Path) -> None:
    """A denial and a question, two values of one field, two defaults."""
    asked = find(tmp_path, {**PUSH, **DENY}, {**PUSH, **ASK})
    assert summarize(asked) == [("contradiction", "r0", "r1")]
    short = {**PUSH, "action": "modify", "data": {"tool_input": {"timeout": 1, "x": 1}}}
    long = {**PUSH, "action": "modify", "data": {"tool_input": {"timeout": 9, "x": 1}}}
    (changed,) = find(tmp_path, short, long)
    assert "tool_input.timeout" in changed.sentence
    lenient = {**PUSH, **ASK, "approval_default": "allow"}
    assert summarize(find(tmp_path, {**PUSH, **ASK}, lenient)) == [("contradiction", "r0", "r1")]
    assert find(tmp_path, {**PUSH, **ASK}, {**PUSH, **ASK, "approval_prompt": "Sure?"}) == []


def test_the_first_approval_rule_decides(tmp_path: Path) -> None:
    """What stands behind a wider rule never has its say."""
    file = read_answering_rules(
        tmp_path,
        {**PUSH, "decision": "deny"},
        {**FORCE, "decision": "ask"},
        {"tool": "Write", "hook": "hooks-*", "decision": "allow"},
        {"tool": "Write", "hook": "hooks-rules", "path": "x/**", "decision": "deny"},
        {"tool": "Edit", "path": ["src/**"], "decision": "allow"},
        {"tool": "Edit", "path": ["src/**"], "decision": "ask"},
    )
    assert summarize(check_rules([file]).findings) == [
        ("shadowed", "r1", "r0"),
        ("shadowed", "r3", "r2"),
    ]


def test_what_must_be_named_is_left_to_the_next_rule(tmp_path: Path) -> None:
    """What allows does not speak for hooks that ask about secrets, and the finding says so."""
    file = read_answering_rules(
        tmp_path,
        {"tool": "Write", "decision": "allow"},
        {"tool": "Write", "path": "x/**", "decision": "deny"},
    )
    (found,) = check_rules([file]).findings
    assert found.sentence.endswith("except for questions of hooks-redaction and tool-bash")


def test_what_a_guard_denies_cannot_be_allowed(tmp_path: Path) -> None:
    """Nobody is asked about it; where only some of it is denied, that is a note."""
    guards = read_hook_rules(tmp_path, {**PUSH, **DENY})
    same = read_answering_rules(tmp_path, {**FORCE, "decision": "allow"})
    (found,) = check_rules([guards, same]).findings
    assert (found.kind, found.rules) == ("contradiction", ("r0", "r0"))
    wider = read_answering_rules(tmp_path, {"command": "git", "decision": "allow"})
    (note,) = check_rules([guards, wider]).findings
    assert note.kind == "overlap"
    assert note.example is not None
    other = read_answering_rules(tmp_path, {"command": "make", "decision": "allow"})
    assert check_rules([guards, other]).findings == ()


def test_a_standing_rule_for_what_a_guard_denies_is_found(tmp_path: Path) -> None:
    """The call that it was given for is put before the guards."""
    guards = read_hook_rules(tmp_path, {**PUSH, **DENY})
    vain = StandingGrant(
        "a1", "ann", "hooks-rules", "Bash", "pushing", input={"command": "git push"}
    )
    good = StandingGrant("b2", "ann", "hooks-rules", "Bash", "making", input={"command": "make"})
    unknown = StandingGrant("c3", "ann", "hooks-rules", "Bash", "gone")
    (found,) = check_rules([guards], grants=[vain, good, unknown]).findings
    assert found.rules == ("standing rule a1", "r0")
    assert "ann" in found.sentence


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


def test_rules_about_different_origins_do_not_shadow_one_another(tmp_path: Path) -> None:
    first = {"tool": "Bash", "origin": "user", **DENY}
    second = {"tool": "Bash", "origin": "untrusted", **DENY}
    for rules in ((first, second), (second, first)):
        findings = check_rules([read_hook_rules(tmp_path, *rules)]).findings
        assert [one.kind for one in findings if one.kind == "shadowed"] == []
    everything = {"tool": "Bash", **DENY}
    findings = check_rules([read_hook_rules(tmp_path, everything, first)]).findings
    assert [one.kind for one in findings] == ["shadowed"]
