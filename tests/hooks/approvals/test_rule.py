"""One rule of an approval file: strict where it allows, wide where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.approvals.rules import ApprovalRule, load_rule
from tests.hooks.approvals.questions import ask


def applies(base: Path, rule: dict[str, Any], tool: str = "Bash", **given: Any) -> bool:
    hook = given.pop("hook", "my-hook")
    loaded = load_rule(ApprovalRule(**{"name": "r", **rule}), base, "test")
    return loaded.applies_to(ask(tool, hook, **given), base)


ALLOW = {"decision": "allow", "command": "git status"}
DENY = {"decision": "deny", "command": "git push"}
UNCLEAR = 'git status; eval "$X"'


def test_one_command_is_enough_to_deny_and_not_to_allow(tmp_path: Path) -> None:
    """The same script, judged by both."""
    script = "git status; git push"
    assert applies(tmp_path, DENY, command=script)
    assert not applies(tmp_path, ALLOW, command=script)
    assert applies(tmp_path, ALLOW, command="git status")


def test_a_doubt_denies_and_does_not_allow(tmp_path: Path) -> None:
    """What cannot be told is told to nobody's advantage but the person's."""
    assert applies(tmp_path, DENY, command=UNCLEAR)
    assert applies(tmp_path, {**DENY, "decision": "ask"}, command=UNCLEAR)
    assert not applies(tmp_path, ALLOW, command=UNCLEAR)
    assert applies(tmp_path, {"decision": "deny", "path": "a/**"}, "Write", file_path="\0")
    assert not applies(tmp_path, {"decision": "allow", "path": "a/**"}, "Write", file_path="\0")
    assert applies(tmp_path, {"decision": "deny", "when": "tool_input.x == 1"}, "Write")
    assert not applies(tmp_path, {"decision": "allow", "when": "tool_input.x == 1"}, "Write")


def test_an_exception_of_a_yes_is_wide_and_one_of_a_no_is_strict(tmp_path: Path) -> None:
    """One command under `unless` takes a yes away; to take a no away it must be all of them."""
    allow = {"decision": "allow", "tool": "Bash", "unless": {"command": "git push"}}
    assert applies(tmp_path, allow, command="git status")
    assert not applies(tmp_path, allow, command="git status; git push")
    assert not applies(tmp_path, allow, command=UNCLEAR)
    deny = {"decision": "deny", "tool": "Bash", "unless": {"command": "git status"}}
    assert not applies(tmp_path, deny, command="git status")
    assert applies(tmp_path, deny, command="git status; git push")
    assert applies(tmp_path, deny, command=UNCLEAR)


def test_an_exception_may_be_for_a_tool(tmp_path: Path) -> None:
    """`unless: {tool: …}` is about that tool alone."""
    rule = {"decision": "deny", "unless": {"tool": "Read"}}
    assert applies(tmp_path, rule, "Write")
    assert not applies(tmp_path, rule, "Read")


def test_a_rule_is_about_its_tool_its_hook_and_its_event(tmp_path: Path) -> None:
    """Globs, or lists of them; calls unless it says otherwise."""
    rule = {"decision": "deny", "tool": ["Write", "*Edit"], "hook": "hooks-*"}
    assert applies(tmp_path, rule, "MultiEdit", hook="hooks-rules")
    assert not applies(tmp_path, rule, "Read", hook="hooks-rules")
    assert not applies(tmp_path, rule, "Write", hook="other")
    assert not applies(tmp_path, {"decision": "deny", "event": "prompt:submit"})


@pytest.mark.parametrize("hook", ["tool-bash", "hooks-redaction"])
def test_a_wider_sandbox_or_a_secret_needs_its_hook_named(tmp_path: Path, hook: str) -> None:
    """A rule about a command does not say that it may use more than its sandbox allows."""
    assert not applies(tmp_path, ALLOW, command="git status", hook=hook)
    assert applies(tmp_path, {**ALLOW, "hook": hook}, command="git status", hook=hook)
    assert applies(tmp_path, DENY, command="git push", hook=hook)


def test_a_yes_needs_a_condition() -> None:
    """A rule that allows everything is a slip more often than a wish."""
    with pytest.raises(ValidationError, match="needs a condition"):
        ApprovalRule(name="all", decision="allow")
    assert ApprovalRule(name="none", decision="deny").decision == "deny"


@pytest.mark.parametrize(
    "match", [{"regex": {"tool_input.x": "("}}, {"when": "1 +"}, {"regex": "x"}]
)
def test_what_cannot_be_compiled_is_named(tmp_path: Path, match: dict[str, Any]) -> None:
    """With the rule that it stands in."""
    rule = ApprovalRule(name="r", decision="allow", **match)
    with pytest.raises(ModuleLoadError, match="rule 'r': "):
        load_rule(rule, tmp_path, "rule 'r'")
