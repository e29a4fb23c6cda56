"""What a lower layer has locked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_hooks.agent.bundles import BundleError, load_bundle
from amplifier_hooks.agent.bundles.merge import find_lock, keep_locked, refuse_changes
from amplifier_hooks.yaml_files.node import Node, Place, make_node, to_plain


def node(value: Any) -> Node:
    return make_node(value, Place("here", 1))


def load(folder: Path, mine: Any, project: Any) -> dict[str, Any]:
    """The plan of a project's bundle over a person's own."""
    own = folder / "config" / "amplifier" / "amplifier.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(yaml.safe_dump(mine))
    path = folder / "amplifier.yaml"
    path.write_text(yaml.safe_dump(project))
    return load_bundle(path, env={"XDG_CONFIG_HOME": str(folder / "config")}).mount_plan


def complaint(folder: Path, mine: Any, project: Any) -> str:
    with pytest.raises(BundleError) as caught:
        load(folder, mine, project)
    return str(caught.value)


LOCKED = [
    ("audit", {"level": "full", "locked": True}, {"level": "decisions"}, "audit.level"),
    ("audit", {"locked": True}, {"enabled": False}, "audit.enabled"),
    ("audit", {"locked": True}, {"locked": False}, "audit.locked"),
    ("approval", {"mode": "deny", "locked": True}, {"timeout": 5}, "approval.timeout"),
    ("sandbox", {"network": "deny", "locked": True}, "off", "sandbox.mode"),
    ("sandbox", {"mode": "auto", "locked": True}, {"write": ["/x"]}, "sandbox.write"),
]


@pytest.mark.parametrize(("section", "mine", "project", "key"), LOCKED)
def test_a_locked_section_cannot_be_changed(
    tmp_path: Path, section: str, mine: Any, project: Any, key: str
) -> None:
    """In no part; the complaint has both places."""
    said = complaint(tmp_path, {section: mine}, {section: project})
    own = tmp_path / "config" / "amplifier" / "amplifier.yaml"
    assert said.startswith(f"{tmp_path / 'amplifier.yaml'}:")
    assert f"{key}: the section is locked in {own}:" in said


def test_a_locked_section_may_be_said_again(tmp_path: Path) -> None:
    """What is the same changes nothing."""
    audit = {"level": "full", "locked": True}
    found = load(tmp_path, {"audit": audit}, {"audit": {"level": "full"}})
    assert (found["audit"]["level"], found["audit"]["locked"]) == ("full", True)


@pytest.mark.parametrize(("section", "mine", "project", "key"), LOCKED)
def test_a_bundle_that_does_not_inherit_keeps_locked_sections(
    tmp_path: Path, section: str, mine: Any, project: Any, key: str
) -> None:
    """Whole, with what they had from below; the others are gone."""
    alone = {
        "inherit": False,
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
    }
    found = load(tmp_path, {section: mine}, alone)
    assert found[section].items() >= mine.items()
    assert found["hooks"] == []
    if section == "audit":
        assert found["audit"]["on_failure"] == "deny"
    assert "is locked" in complaint(tmp_path, {section: mine}, {**alone, section: project})


def test_locked_entries_keep_the_options_that_they_had_from_below(tmp_path: Path) -> None:
    """A lock is of the entry as it was merged."""
    base = tmp_path / "config" / "amplifier" / "base.yaml"
    base.parent.mkdir(parents=True)
    base.write_text("hooks:\n  - {module: hooks-rules, config: {file: /r.yaml}}\n")
    mine = {"include": "base.yaml", "hooks": [{"module": "hooks-rules", "locked": True}]}
    alone = {
        "inherit": False,
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
    }
    [entry] = load(tmp_path, mine, alone)["hooks"]
    assert entry["config"] == {"file": "/r.yaml"}


@pytest.mark.parametrize("key", ["orchestrator", "context"])
def test_a_locked_loop_or_context_stays(tmp_path: Path, key: str) -> None:
    """Changed by nobody, and kept where nothing is inherited."""
    entry = {"module": f"{key}-mine", "locked": True}
    mine = {"session": {key: entry}}
    assert f"session.{key}: is locked in" in complaint(tmp_path, mine, {"session": {key: "other"}})
    rest = {"orchestrator": "loop-basic", "context": "context-simple"}
    rest.pop(key)
    found = load(tmp_path, mine, {"inherit": False, "session": rest})
    assert found["session"][key]["module"] == f"{key}-mine"


def test_lists_of_agents_with_a_locked_entry_stay(tmp_path: Path) -> None:
    """They would be replaced as a whole; the rest of the agent can be changed."""
    agent = {"description": "d", "hooks": [{"module": "h", "locked": True}]}
    mine = {"agents": {"a": agent}}
    said = complaint(tmp_path, mine, {"agents": {"a": {"description": "e", "hooks": []}}})
    assert "agents.a.hooks: holds an entry that is locked in" in said
    found = load(tmp_path, mine, {"agents": {"a": {"description": "e", "tools": ["Read"]}}})
    assert found["agents"]["a"]["description"] == "e"


@pytest.mark.parametrize(
    "entry",
    [
        {"module": "hooks-command-guard", "enabled": False},
        {"module": "hooks-command-guard", "config": {}},
        {"module": "other", "name": "hooks-command-guard"},
        {"module": "other", "instance_id": "hooks-command-guard"},
        {"module": "hooks-command-guard", "source": "./x.py"},
    ],
)
def test_a_locked_entry_is_found_under_each_of_its_names(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    """By name, by instance and by module."""
    mine = {"hooks": [{"module": "hooks-command-guard", "locked": True}]}
    assert "is locked in" in complaint(tmp_path, mine, {"hooks": [entry]})


@pytest.mark.parametrize("name", ["name", "instance_id"])
def test_another_entry_of_the_module_leaves_the_locked_one_as_it_is(
    tmp_path: Path, name: str
) -> None:
    """Both are there, and both judge."""
    mine = {"hooks": [{"module": "hooks-command-guard", "config": {"a": 1}, "locked": True}]}
    more = {"module": "hooks-command-guard", name: "mine", "config": {"a": 2}}
    found = load(tmp_path, mine, {"hooks": [more]})["hooks"]
    kept = [one["config"] for one in found if one["module"] == "hooks-command-guard"]
    assert kept == [{"a": 1}, {"a": 2}]


def test_a_required_sandbox_may_become_stricter() -> None:
    """And nothing else; also when it is only required."""
    below = node({"sandbox": {"mode": "required", "network": "ask"}})
    refuse_changes(below, node({"sandbox": {"network": "deny", "locked": True}}))
    for weaker in ({"mode": "auto"}, {"network": "allow"}, {"locked": False}):
        with pytest.raises(BundleError, match="the sandbox is required in"):
            refuse_changes(below, node({"sandbox": weaker}))


def test_of_a_document_only_locked_parts_are_kept() -> None:
    """A required sandbox counts as locked."""
    document = node({"name": "x", "sandbox": {"mode": "required"}, "audit": {"level": "full"}})
    assert to_plain(keep_locked(document)) == {"sandbox": {"mode": "required"}}
    assert find_lock(None) is None


LOOSER = [
    ({"via": "server"}, {"via": "terminal"}, "via"),
    ({"via": ["terminal", "store"]}, {"via": "terminal"}, "via"),
    ({"server": "https://a.test"}, {"server": "https://b.test"}, "server"),
    ({"store": "/mine.db"}, {"store": "/yours.db"}, "store"),
    ({"token": "mine-mine"}, {"token": "yours-yours"}, "token"),
    ({"persons": 2}, {"persons": 1}, "persons"),
    ({"requester_may_approve": False}, {"requester_may_approve": True}, "requester_may_approve"),
    ({"scope": "release"}, {"scope": ""}, "scope"),
    ({"scope": "release"}, {"scope": "anybody"}, "scope"),
]


@pytest.mark.parametrize(("mine", "project", "key"), LOOSER)
def test_a_project_cannot_ask_other_people_than_the_person_says_nor_fewer(
    mine: Any, project: Any, key: str
) -> None:
    """Without a lock, too: who decides is not for those to say whose work is decided about."""
    below, above = node({"approval": mine}), node({"approval": project})
    with pytest.raises(BundleError, match=f"approval.{key}: is set in here:1 and cannot be"):
        refuse_changes(below, above)


def test_who_is_asked_may_become_stricter_and_what_is_not_said_may_be_added() -> None:
    """More people, and not the one who runs it."""
    below = node({"approval": {"via": "store", "persons": 1, "scope": "", "timeout": 60}})
    stricter = {"persons": 2, "requester_may_approve": False, "scope": "release", "timeout": 5}
    refuse_changes(below, node({"approval": stricter}))
    refuse_changes(
        node({"approval": {"requester_may_approve": True}}), node({"approval": stricter})
    )
    refuse_changes(node({"approval": {"mode": "deny"}}), node({"approval": {"mode": "ask"}}))


def test_who_is_asked_stays_in_a_bundle_that_inherits_nothing() -> None:
    """What else the section says is inherited only when it is locked."""
    document = node({"approval": {"via": "store", "persons": 2, "timeout": 5}})
    assert to_plain(keep_locked(document)) == {"approval": {"via": "store", "persons": 2}}
    assert to_plain(keep_locked(node({"approval": {"timeout": 5}}))) == {}


LOCKED_HOOK = {"hooks": [{"module": "hooks-redaction", "locked": True}]}
SHADOW = {"session": {"evaluate_only": True}}


@pytest.mark.parametrize("more", [{}, {"inherit": False}])
def test_a_locked_hook_cannot_be_put_into_shadow_mode(tmp_path: Path, more: Any) -> None:
    """There it would hold nobody back, whatever else the layer above inherits."""
    said = complaint(tmp_path, LOCKED_HOOK, {**SHADOW, **more})
    own = tmp_path / "config" / "amplifier" / "amplifier.yaml"
    assert f"session.evaluate_only: a hook is locked in {own}:" in said


@pytest.mark.parametrize(
    ("mine", "project"),
    [
        ({}, SHADOW),
        ({"hooks": ["hooks-redaction"]}, SHADOW),
        ({**LOCKED_HOOK, **SHADOW}, SHADOW),
        ({**LOCKED_HOOK, **SHADOW}, {}),
    ],
)
def test_shadow_mode_is_for_whoever_locks_nothing_below(
    tmp_path: Path, mine: Any, project: Any
) -> None:
    """Whoever locks a hook may try it out in the same layer."""
    assert load(tmp_path, mine, project)["session"]["evaluate_only"] is True


def test_a_layer_above_may_leave_shadow_mode(tmp_path: Path) -> None:
    """From then on the hooks have an effect."""
    project = {"session": {"evaluate_only": False}}
    assert load(tmp_path, {**LOCKED_HOOK, **SHADOW}, project)["session"]["evaluate_only"] is False


def test_an_agent_has_no_mode_of_its_own(tmp_path: Path) -> None:
    """The hooks of its session judge it with the effect that they have there."""
    agent = {"description": "d", "session": {"evaluate_only": True}}
    said = complaint(tmp_path, {}, {"agents": {"a": agent}})
    assert "agents.a.session.evaluate_only: unknown key 'evaluate_only'" in said
