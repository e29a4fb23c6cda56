"""Rules are read as a session would read them, with the places where they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.approvals.models import StandingWish
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.insight.rule_checks import (
    Finding,
    StandingGrant,
    read_bundle_rules,
    read_rules_file,
)
from amplifier_hooks.insight.rule_checks.rules import read_grants
from tests.hooks.insight.rule_checks.rule_files import (
    DENY,
    read_answering_rules,
    read_hook_rules,
    write_rules,
)
from tests.support.stores import ANN, ask, decide

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


def test_a_rule_that_is_off_or_dry_does_not_act(tmp_path: Path) -> None:
    """Only what acts can be in another rule's way."""
    group = read_hook_rules(tmp_path, DENY, {"enabled": False, **DENY}, {"dry_run": True, **DENY})
    assert [one.acts for one in group.rules] == [True, False, False]


def test_names_are_those_that_people_gave(tmp_path: Path) -> None:
    """Standing rules have an id, of which the beginning is shown."""
    file = read_answering_rules(tmp_path, {"name": "push", "tool": "Bash", "decision": "allow"})
    assert (file.rules[0].name, file.rules[0].allows) == ("push", True)
    assert StandingGrant("0123456789ab", "ann", "h", "Bash", "x").name == "standing rule 01234567"


async def test_rules_of_the_folder_come_with_their_call(tmp_path: Path) -> None:
    """Those for other folders are not about what is checked here."""
    async with await open_store(tmp_path / "store.db") as store:
        for key, folder in (("a", str(tmp_path)), ("b", "/elsewhere")):
            given = {"tool_name": "Bash", "tool_input": {"command": "make"}, "working_dir": folder}
            approval = await ask(store, key=key, **given)
            await decide(
                store, approval, by=ANN, standing=StandingWish(scope="exact", seconds=3600.0)
            )
        (grant,) = await read_grants(store, tmp_path)
    assert (grant.author, grant.tool, grant.input) == (ANN.name, "Bash", {"command": "make"})
    assert grant.uses == 0


def test_what_may_be_intended_is_a_note() -> None:
    """A rule that was quiet so far is no mistake; one that another shadows is."""
    assert Finding("matched nothing", ("a",), ("f:1",), "x").is_note
    assert Finding("overlap", ("a", "b"), ("f:1", "f:2"), "x").is_note
    assert not Finding("shadowed", ("a", "b"), ("f:1", "f:2"), "x").is_note
