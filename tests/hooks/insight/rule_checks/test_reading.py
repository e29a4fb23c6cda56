"""Rules are read as a session would read them, with the places where they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.insight.rule_checks import read_bundle_rules, read_rules_file
from tests.hooks.insight.rule_checks.rule_files import DENY, write_rules

BUNDLE = """
hooks:
  - module: hooks-rules
    config:
      file: more.yaml
      rules:
        - name: inline
          tool: Bash
          action: deny
          reason: here
        - {action: continue, tool: Write, user_message: seen}
  - module: hooks-rules
    name: trial-rules
    config:
      dry_run: true
      rules: [{name: trial, action: deny, reason: there}]
agents:
  helper:
    description: helps
    hooks:
      - module: hooks-rules
        config: {rules: [{name: below, action: deny, reason: x}]}
"""


def test_the_rules_of_a_bundle_are_those_of_all_its_entries(tmp_path: Path) -> None:
    """Inline and in files, of agents too, each with its file and line."""
    write_rules(tmp_path, [DENY], "more.yaml")
    path = tmp_path / "amplifier.yaml"
    path.write_text(BUNDLE)
    first, second, third = read_bundle_rules(load_bundle(path, user=False), tmp_path)
    assert [(one.name, str(one.place)) for one in first.rules] == [
        ("inline", f"{path}:7"),
        ("rule-2", f"{path}:11"),
        ("r0", f"{tmp_path / 'more.yaml'}:2"),
    ]
    assert [one.dry_run for one in second.rules] == [True]
    assert third.source == "hooks-rules of agent 'helper'"


def test_a_module_of_others_by_that_name_is_let_alone(tmp_path: Path) -> None:
    """Its options are not ours to read."""
    path = tmp_path / "amplifier.yaml"
    path.write_text("hooks:\n  - {module: hooks-rules, source: ./own.py, config: {x: 1}}\n")
    (tmp_path / "own.py").write_text("")
    assert read_bundle_rules(load_bundle(path, user=False), tmp_path) == []


def test_a_file_is_told_by_what_its_rules_decide(tmp_path: Path) -> None:
    """`action` is for hooks-rules, `decision` for approvals; anything else is an error."""
    hooks = read_rules_file(write_rules(tmp_path, [DENY]), tmp_path)
    answering = read_rules_file(
        write_rules(tmp_path, [{"tool": "Bash", "decision": "ask"}], "b.yaml"), tmp_path
    )
    assert (hooks.kind, answering.kind) == ("hook", "approval")
    assert str(answering.rules[0].place).endswith("b.yaml:2")
    with pytest.raises(ModuleLoadError, match="'decision'"):
        read_rules_file(write_rules(tmp_path, [{"tool": "Bash"}]), tmp_path)


@pytest.mark.parametrize("decides", [{"action": "stop"}, {"decision": "maybe"}])
def test_a_rule_that_cannot_be_loaded_is_an_error(tmp_path: Path, decides: dict[str, str]) -> None:
    """In the words of whoever would load it."""
    with pytest.raises(ModuleLoadError, match="r0"):
        read_rules_file(write_rules(tmp_path, [{"tool": "Bash", **decides}]), tmp_path)
