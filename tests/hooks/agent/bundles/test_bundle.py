"""What comes of the files: a frozen bundle with its plan."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.bundles import Place, bundle_from_plan
from amplifier_hooks.agent.bundles.bundle import build_mount_plan
from amplifier_hooks.yaml_files.node import make_node
from tests.hooks.agent.bundles.files import load, modules


def test_secrets_from_variables_are_remembered_and_not_shown(tmp_path: Path) -> None:
    """The bundle knows them, so that others can hide them, and hides them itself."""
    text = "providers:\n  - {module: provider-openai, config: {api_key: '${MY_API_KEY}'}}\n"
    bundle = load(tmp_path, text, env={"MY_API_KEY": "hunter2-hunter2"})
    assert bundle.secrets == {"hunter2-hunter2"}
    assert "hunter2" not in repr(bundle)


def test_what_opens_the_way_to_people_is_a_secret_however_it_was_written(tmp_path: Path) -> None:
    """The token, and the password of a database, as it is written and as it is."""
    text = """
approval:
  via: [store, server]
  store: postgresql://me:p%40ss-word@db.test/approvals
  server: https://host.test
  token: written-down
"""
    bundle = load(tmp_path, text)
    assert bundle.secrets == {"written-down", "p%40ss-word", "p@ss-word"}


def test_a_bundle_is_frozen(tmp_path: Path) -> None:
    """Whoever changes the plan changes a copy."""
    bundle = load(tmp_path, "")
    bundle.mount_plan["hooks"].clear()
    assert modules(bundle)
    with pytest.raises(dataclasses.FrozenInstanceError):
        bundle.name = "other"  # type: ignore[misc]


def test_the_digest_follows_the_plan_and_nothing_else(tmp_path: Path) -> None:
    """Comments and layout do not count."""
    one = load(tmp_path, "session: {max_turns: 3}\n").digest
    same = load(tmp_path, "# a comment\nsession:\n  max_turns: 3\n").digest
    other = load(tmp_path, "session: {max_turns: 4}\n").digest
    assert one == same != other


def test_agents_name_tools_or_modules(tmp_path: Path) -> None:
    """Names stay names, modules become entries, and what is switched off is gone."""
    bundle = load(
        tmp_path,
        "agents:\n  critic:\n    description: Reviews.\n    tools: [Read, tool-search]\n"
        "    hooks: [{module: h-x, enabled: false}, h-y]\n    session: {max_turns: 2}\n",
    )
    critic = bundle.mount_plan["agents"]["critic"]
    assert critic["tools"] == ["Read", {"module": "tool-search", "config": {}}]
    assert critic["hooks"] == [{"module": "h-y", "config": {}}]
    assert critic["session"] == {"max_turns": 2}


def test_a_module_knows_the_line_that_asked_for_it(tmp_path: Path) -> None:
    """The loop and the context too; a module that nobody asked for has none."""
    bundle = load(tmp_path, "session:\n  context: context-simple\nhooks:\n  - hooks-rules\n")
    path = tmp_path / "amplifier.yaml"
    assert str(bundle.place_of("context-simple")) == f"{path}:2"
    assert str(bundle.place_of("hooks-rules")) == f"{path}:4"
    assert bundle.place_of("hooks-nonsense") is None


def test_local_modules_are_watched_and_addresses_are_not(tmp_path: Path) -> None:
    """An edit of a module's own file is an edit of the bundle."""
    text = (
        "session: {context: ./my_context.py}\n"
        "hooks: [./own.py, {module: far, source: 'https://host.invalid/x'}]\n"
    )
    watched = {path.name for path in load(tmp_path, text).watched}
    assert {"own.py", "my_context.py"} <= watched
    assert not any("host.invalid" in name for name in watched)


def test_a_change_on_top_holds_when_the_files_are_read_again(tmp_path: Path) -> None:
    """Flags of a command hold for the whole run, whatever is edited meanwhile."""
    bundle = load(tmp_path, "session: {max_turns: 3}\n")

    def without_hooks(plan: dict[str, Any]) -> dict[str, Any]:
        return {**plan, "hooks": []}

    changed = bundle.changed(without_hooks)
    assert modules(bundle) != modules(changed) == []
    assert changed.digest != bundle.digest
    (tmp_path / "amplifier.yaml").write_text("session: {max_turns: 4}\n")
    again = changed.reload()
    assert modules(again) == []
    assert again.mount_plan["session"]["max_turns"] == 4


def test_without_files_there_is_nothing_to_read_again() -> None:
    """A bundle that was written in code stays what it is, also with a change on top."""
    plan = {"session": {"orchestrator": "o", "context": "c"}}
    changed = bundle_from_plan(plan).changed(lambda plan: {**plan, "tools": ["t"]})
    assert changed.reload() is changed


SWITCHES = st.tuples(st.sampled_from("abcdef"), st.sampled_from([True, False, None]))


@given(st.lists(SWITCHES, max_size=5))
def test_a_plan_has_what_is_switched_on_and_every_section(entries: list[Any]) -> None:
    """In the order of the file; what switched an entry on or off is no part of the plan."""
    hooks = [{"module": module, "enabled": on, "locked": True} for module, on in entries]
    plan = build_mount_plan(make_node({"hooks": hooks}, Place("f")))
    kept = [{"module": module, "config": {}, "locked": True} for module, on in entries if on]
    assert plan["hooks"] == kept
    lists = {"providers", "tools", "hooks"}
    assert plan.keys() == lists | {"session", "agents", "approval", "audit", "sandbox"}
