"""Rules of a file, and those that people made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.approvals import RulesApproval
from amplifier_hooks.approvals.rules import ApprovalRule, load_rule
from amplifier_hooks.yaml_files.node import BundleError
from tests.hooks.approvals.questions import ask

RULES = """
rules:
  - name: no-lock-files
    tool: [Write, Edit]
    path: "*.lock"
    decision: deny
    reason: Lock files are written by the tool that owns them.
  - name: code
    tool: [Write, Edit]
    path: "**"
    decision: allow
  - name: people
    tool: Bash
    command: git push
    decision: ask
"""


def read(folder: Path, text: str) -> RulesApproval:
    file = folder / "approve.yaml"
    file.write_text(text)
    return RulesApproval(file, folder)


def test_the_first_rule_that_matches_decides(tmp_path: Path) -> None:
    """In the order in which they are written."""
    judge = read(tmp_path, RULES).judge
    ruling = judge(ask("Write", file_path="uv.lock"))
    assert (ruling.verdict, ruling.rule) == ("deny", "no-lock-files")
    assert "Lock files" in ruling.reason
    assert judge(ask("Write", file_path="a.py")).rule == "code"
    assert judge(ask(command="git push")).verdict == "ask"


@pytest.mark.parametrize(("line", "verdict"), [("", "ask"), ("otherwise: deny\n", "deny")])
def test_what_no_rule_is_about_goes_to_a_person_or_nowhere(
    tmp_path: Path, line: str, verdict: str
) -> None:
    """As the file says; it is recorded as such."""
    ruling = read(tmp_path, line + RULES).judge(ask(command="ls"))
    assert (ruling.verdict, ruling.rule) == (verdict, "otherwise")


def test_the_file_is_read_once_and_named_as_what_governs(tmp_path: Path) -> None:
    """What becomes of it later changes nothing, and tools are kept from writing it."""
    system = read(tmp_path, RULES)
    (tmp_path / "approve.yaml").write_text("rules: [{name: x, tool: '*', decision: allow}]")
    assert system.judge(ask(command="git push")).verdict == "ask"
    assert system.governing_files == (tmp_path / "approve.yaml",)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "rules"),
        ("- name: a\n", "rules"),
        ("rules: []\n", "rules"),
        ("rules: [{name: a, decision: allow, tol: Bash}]", "'tool'"),
        ("rules: [{name: a, decision: yes}]", "rule 'a'.*decision"),
        ("rules: [{name: a, decision: alow, tool: x}]", "decision"),
        ("rules: [{decision: deny}]", "rule 1.*name"),
        ("rules: [{name: a, decision: deny}, {name: a, decision: deny}]", "'a' is taken"),
        ("rules: [{name: otherwise, decision: deny}]", "'otherwise' is taken"),
        ("otherwise: allow\nrules: [{name: a, decision: deny}]", "otherwise"),
        ("rule: [{name: a, decision: deny}]", "'rules'"),
        ("rules: [deny]", "rules"),
        ("rules: [{name: a, decision: allow}]", "needs a condition"),
        ("rules: [{name: a, decision: deny, when: 'origin.size() > 0'}]", "'origin' is known"),
        (
            "rules: [{name: a, decision: allow, tool: x, unless: {when: 'origin.size() == 0'}}]",
            "'origin' is known",
        ),
    ],
)
def test_a_file_with_any_fault_is_refused(tmp_path: Path, text: str, what: str) -> None:
    """With its name, the rule and the key; half a set of rules would be another policy."""
    with pytest.raises(ModuleLoadError, match=rf"approve\.yaml.*{what}"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("rules: [", "not valid YAML"),
        ("rules:\n  - name: a\n    decision: deny\n    decision: allow\n", "written twice"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(
    tmp_path: Path, text: str, what: str
) -> None:
    """A key that is there twice could mean either."""
    with pytest.raises(BundleError, match=rf"approve\.yaml:\d.*{what}"):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Nothing is allowed for want of rules."""
    with pytest.raises(BundleError, match="cannot be read"):
        RulesApproval(tmp_path / "none.yaml", tmp_path)


def test_the_example_of_the_documentation_can_be_used(tmp_path: Path) -> None:
    """As it stands on the page, with what the page says of it."""
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
    example = page.partition("```yaml\n# ci-approvals.yaml")[2].partition("```")[0]
    judge = read(tmp_path, f"# {example}").judge
    assert judge(ask("Write", file_path="src/a.py")).rule == "code"
    assert judge(ask("Write", file_path="src/uv.lock")).rule == "lock-files"
    assert judge(ask(command="make test 2>&1 | tail")).rule == "checks"
    assert judge(ask(command="make test; git push")).rule == "pushes"
    assert judge(ask("Write", file_path="setup.py")).rule == "otherwise"


def applies(base: Path, rule: dict[str, Any], tool: str = "Bash", **given: Any) -> bool:
    hook = given.pop("hook", "my-hook")
    loaded = load_rule(ApprovalRule(**{"name": "r", **rule}), base, "test")
    return loaded.applies_to(ask(tool, hook, **given), base)


@pytest.mark.parametrize(
    "when",
    [
        "tool_input.command == 'git push origin dev'",
        "['a', 'origin'].exists(origin, origin == 'origin')",
        "has(tool_input.origin) || tool_input.command.startsWith('git')",
    ],
)
def test_origin_as_a_text_or_a_name_of_its_own_is_no_origin(tmp_path: Path, when: str) -> None:
    """Only the variable is what is not known here."""
    rule = {"decision": "deny", "when": when}
    assert applies(tmp_path, rule, command="git push origin dev")


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
