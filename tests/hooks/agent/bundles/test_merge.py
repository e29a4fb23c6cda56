"""One bundle laid over another."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.bundles import BundleError
from amplifier_hooks.agent.bundles.merge import identify, merge, overlay
from amplifier_hooks.yaml_files.node import Place, make_node, to_plain
from tests.hooks.agent.bundles.files import config, load, modules


def test_an_upper_entry_changes_the_lower_one_of_the_same_id(tmp_path: Path) -> None:
    """Key by key, its options too; entries that are new come last."""
    (tmp_path / "base.yaml").write_text(
        "hooks:\n  - module: hooks-rules\n    priority: 5\n    config: {a: 1, b: {c: 2, d: 3}}\n"
        "  - hooks-notify\n"
    )
    bundle = load(
        tmp_path,
        "include: base.yaml\ninherit: false\n"
        "session: {orchestrator: loop-basic, context: context-simple}\n"
        "hooks:\n  - hooks-backup\n  - module: hooks-rules\n    config: {b: {c: 9}}\n",
    )
    assert modules(bundle) == ["hooks-rules", "hooks-notify", "hooks-backup"]
    assert config(bundle, "hooks-rules") == {"a": 1, "b": {"c": 9, "d": 3}}
    assert bundle.mount_plan["hooks"][0]["priority"] == 5


def test_a_name_tells_two_entries_of_one_module_apart(tmp_path: Path) -> None:
    """Each keeps its own options."""
    bundle = load(
        tmp_path,
        "hooks:\n"
        "  - {module: hooks-rules, name: one, config: {x: 1}}\n"
        "  - {module: hooks-rules, name: two, config: {x: 2}}\n",
    )
    named = {entry.get("name"): entry["config"] for entry in bundle.mount_plan["hooks"]}
    assert named["one"] == {"x": 1}
    assert named["two"] == {"x": 2}


def test_a_provider_that_a_bundle_names_is_asked_before_those_it_includes(tmp_path: Path) -> None:
    """The first one is asked, and the default bundle ends in one that only says what is missing."""
    bundle = load(tmp_path, "providers:\n  - {module: provider-local, config: {name: mine}}\n")
    assert modules(bundle, "providers") == ["provider-local", "provider-scripted"]
    text = "providers:\n  - provider-local\n  - provider-openai\n"
    assert modules(load(tmp_path, text), "providers")[:2] == ["provider-local", "provider-openai"]


def test_enabled_false_removes(tmp_path: Path) -> None:
    """An entry that is switched off is no part of the plan; the others stay."""
    bundle = load(tmp_path, "hooks:\n  - {module: hooks-redaction, enabled: false}\n")
    assert "hooks-redaction" not in modules(bundle)
    assert "hooks-command-guard" in modules(bundle)


def test_naming_a_module_again_turns_it_on(tmp_path: Path) -> None:
    """Whoever configures a module wants it, unless the new entry says otherwise."""
    text = (
        "providers:\n  - module: provider-openai\n    config: { base_url: http://127.0.0.1/v1 }\n"
    )
    assert "provider-openai" in modules(load(tmp_path, text), "providers")
    off = text + "    enabled: false\n"
    assert "provider-openai" not in modules(load(tmp_path, off), "providers")


def test_what_the_user_locked_no_project_can_switch_off(tmp_path: Path) -> None:
    """A cloned project must not remove the guards of the person who opens it."""
    user = tmp_path / "home" / ".config" / "amplifier"
    user.mkdir(parents=True)
    mine = user / "amplifier.yaml"
    mine.write_text("hooks:\n  - module: hooks-command-guard\n    locked: true\n")
    with pytest.raises(BundleError) as caught:
        load(tmp_path, "hooks:\n  - {module: hooks-command-guard, enabled: false}\n")
    assert str(caught.value) == (
        f"{tmp_path}/amplifier.yaml:2: hooks-command-guard: "
        f"is locked in {mine}:3 and cannot be changed here"
    )


def test_a_bundle_that_inherits_nothing_keeps_what_the_user_locked(tmp_path: Path) -> None:
    """Everything else of the lower layers is gone."""
    user = tmp_path / "home" / ".config" / "amplifier"
    user.mkdir(parents=True)
    mine = "hooks:\n  - {module: hooks-command-guard, locked: true}\n  - hooks-datetime\n"
    (user / "amplifier.yaml").write_text(mine)
    session = "session: {orchestrator: loop-basic, context: context-simple}\n"
    bundle = load(tmp_path, f"inherit: false\n{session}hooks: [hooks-git-status]\n")
    assert modules(bundle) == ["hooks-command-guard", "hooks-git-status"]
    with pytest.raises(BundleError, match="is locked"):
        load(tmp_path, f"inherit: false\n{session}hooks: [hooks-command-guard]\n")


def test_another_loop_does_not_inherit_the_settings_of_the_old_one(tmp_path: Path) -> None:
    """Options of one loop mean nothing to another."""
    (tmp_path / "base.yaml").write_text(
        "session:\n  orchestrator: {module: loop-basic, config: {speed: 3}}\n"
    )
    bundle = load(tmp_path, "include: base.yaml\nsession: {orchestrator: loop-streaming}\n")
    assert bundle.mount_plan["session"]["orchestrator"] == {"module": "loop-streaming"}


def test_the_same_loop_keeps_the_settings_of_the_lower_bundle() -> None:
    """Only another module starts anew."""
    below = {"session": {"orchestrator": {"module": "loop-basic", "config": {"a": 1}}}}
    above = {"session": {"orchestrator": {"module": "loop-basic", "config": {"b": 2}}}}
    merged = to_plain(overlay(make_node(below, Place("x")), make_node(above, Place("y"))))
    assert merged["session"]["orchestrator"]["config"] == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"module": "m"}, "m"),
        ({"module": "m", "name": "n"}, "n"),
        ({"config": {}}, None),
        (3, None),
    ],
)
def test_an_entry_is_known_by_its_name_else_by_its_module(entry: Any, expected: str | None) -> None:
    """What is no entry is known by nothing."""
    assert identify(make_node(entry, Place("x"))) == expected


numbers = st.integers(0, 3)


section = st.fixed_dictionaries({}, optional={"x": numbers, "y": numbers, "z": st.lists(numbers)})


# A key that is a section in one layer and a number in another is refused by the schema.
mappings = st.fixed_dictionaries({}, optional={"a": section, "b": section, "c": numbers})


def _merged(*layers: dict[str, Any]) -> Any:
    place = Place("x")
    nodes = [make_node(layer, place) for layer in layers]
    result = nodes[0]
    for node in nodes[1:]:
        result = merge(result, node)
    return to_plain(result)


@given(mappings, mappings, mappings)
def test_merging_is_associative_and_has_a_neutral_element(
    a: dict[str, Any], b: dict[str, Any], c: dict[str, Any]
) -> None:
    """Layers may be grouped in any way; an empty file changes nothing."""
    assert _merged(_merged(a, b), c) == _merged(a, _merged(b, c))
    assert _merged(a, {}) == _merged({}, a) == a


@given(mappings, mappings)
def test_merging_leaves_its_inputs_alone(a: dict[str, Any], b: dict[str, Any]) -> None:
    """A layer may be merged again, into something else."""
    place = Place("x")
    below, above = make_node(a, place), make_node(b, place)
    before = copy.deepcopy((to_plain(below), to_plain(above)))
    merge(below, above)
    assert (to_plain(below), to_plain(above)) == before


def test_the_instance_of_a_provider_is_an_entry_of_its_own(tmp_path: Path) -> None:
    """Its `instance_id` tells it apart, like a name."""
    bundle = load(
        tmp_path,
        "providers:\n"
        "  - {module: provider-openai, config: {model: a}}\n"
        "  - {module: provider-openai, instance_id: second, config: {model: b}}\n",
    )
    found = [one for one in bundle.mount_plan["providers"] if one["module"] == "provider-openai"]
    assert [(one.get("instance_id"), one["config"]["model"]) for one in found] == [
        (None, "a"),
        ("second", "b"),
    ]
