"""Rules that never match are found; those that may are let alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.insight.rule_checks import check_rules
from tests.hooks.insight.rule_checks.rule_files import (
    DENY,
    find,
    read_answering_rules,
    summarize,
)

NEVER = [
    ({"tool": "Write", "command": "git push"}, "looks for a command"),
    ({"tool": ["Bash", "todo"], "path": "src/**"}, "looks for a path"),
    ({"path": ["../x/**", "a/../b"]}, "without `..`"),
    ({"event": "prompt:submit", "tool": "Bash"}, "not about a tool call"),
    ({"event": ["prompt:submit", "session:end"], "command": "ls"}, "not about a tool call"),
    ({"event": "session:start", "path": "*.env"}, "not about a tool call"),
    ({"event": "tool:pre", "regex": {"prompt": "x"}}, "has no field 'prompt'"),
    ({"event": "tool:pre", "regex": {"tool_result.output": "x"}}, "has no field 'tool_result'"),
    ({"path": "src/**", "unless": {"path": ["docs/**", "**"]}}, "excepts everything"),
    ({"regex": "rm -rf", "unless": {"regex": "rm"}}, "excepts everything"),
    ({"when": "tool_name == 'X'", "unless": {"when": "tool_name == 'X'"}}, "excepts everything"),
    ({"tool": "Bash", "unless": {}}, "excepts everything"),
    ({"command": {"program": "git", "argument": "--force"}}, "use `flag`"),
    ({"command": {"program": "git", "flag": "force"}}, "begin with `-`"),
]


@pytest.mark.parametrize(("rule", "words"), NEVER)
def test_a_rule_that_can_never_match_is_found(
    tmp_path: Path, rule: dict[str, Any], words: str
) -> None:
    """With its name, its line and the reason."""
    (found,) = find(tmp_path, {**rule, **DENY})
    assert found.kind == "never matches"
    assert words in found.sentence
    assert found.places == (f"{tmp_path / 'rules.yaml'}:2",)
    assert not found.is_note


@pytest.mark.parametrize(
    "rule",
    [
        {"tool": "mcp__shell__run", "command": "git push"},
        {"tool": ["Write", "Bash"], "command": "git push"},
        {"path": "/srv/../etc/**"},
        {"event": "prompt:*", "tool": "Bash"},
        {"event": "prompt:submit", "tool": "*"},
        {"event": "deploy:begin", "tool": "Bash"},
        {"event": "tool:post", "regex": {"tool_result.output": "x"}},
        {"event": "tool:pre", "regex": {"own_field": "x"}},
        {"path": "src/**", "unless": {"path": "src/generated/**"}},
        {"tool": "Bash", "unless": {"tool": "Bash"}},
        {"tool": "Write", "unless": {"path": "**"}},
        {"command": "git push -f|--force"},
        {"regex": "rm", "unless": {"regex": "rm -rf"}},
        {"command": "rm out/*", "unless": {"command": "rm out/*"}},
    ],
)
def test_a_rule_that_may_match_is_let_alone(tmp_path: Path, rule: dict[str, Any]) -> None:
    """Where it cannot be told, nothing is said."""
    assert find(tmp_path, {**rule, **DENY}) == []


def test_one_alternative_that_never_matches_is_named(tmp_path: Path) -> None:
    """The others may, so the finding is about that part."""
    (found,) = find(tmp_path, {"path": ["src/**", "../other/**"], **DENY})
    assert found.kind == "part never matches"
    assert "'../other/**'" in found.sentence


def test_an_exception_for_all_commands_leaves_those_that_cannot_be_read(tmp_path: Path) -> None:
    """Such a rule still matches `git push $(x)`, and the finding says so."""
    (found,) = find(tmp_path, {"command": "git push", "unless": {"command": "git"}, **DENY})
    assert found.kind == "excepts everything"
    assert found.sentence.endswith("except for commands that cannot be read")
    (same,) = find(tmp_path, {"command": "git push", "unless": {"command": "git push"}, **DENY})
    assert same.sentence.endswith("or have other words in between")


def test_continue_without_a_message_has_no_effect(tmp_path: Path) -> None:
    """It does not let through what another rule stops."""
    silent = {"command": "ls", "action": "continue"}
    assert summarize(find(tmp_path, silent)) == [("no effect", "r0")]
    assert find(tmp_path, {**silent, "user_message": "looking"}) == []


def test_a_rule_that_is_switched_off_is_a_note(tmp_path: Path) -> None:
    """It is not judged any further."""
    (found,) = find(tmp_path, {"path": "../x", "enabled": False, **DENY})
    assert found.kind == "disabled"
    assert found.is_note


def test_approval_rules_are_judged_as_well(tmp_path: Path) -> None:
    """A rule that allows commands of Write allows nothing."""
    file = read_answering_rules(
        tmp_path, {"tool": "Write", "command": "make test", "decision": "allow"}
    )
    assert summarize(check_rules([file]).findings) == [("never matches", "r0")]


def test_the_keys_of_the_options_count(tmp_path: Path) -> None:
    """Whoever looks for commands in `content` may look for them in calls of Write."""
    bundle = tmp_path / "amplifier.yaml"
    bundle.write_text(
        "hooks:\n  - module: hooks-rules\n    config:\n      command_keys: [content]\n"
        "      rules:\n        - {name: a, tool: Write, command: curl, action: deny, reason: x}\n"
    )
    from amplifier_hooks.agent.bundles import load_bundle
    from amplifier_hooks.insight.rule_checks import read_bundle_rules

    assert check_rules(read_bundle_rules(load_bundle(bundle), tmp_path)).findings == ()
