"""What a bundle says is what the mount plan has."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_foundation.bundles import (
    Bundle,
    BundleError,
    bundle_from_plan,
    load_bundle,
    mount_plan_problems,
    validate_mount_plan,
)
from amplifier_foundation.bundles.merge import merge
from amplifier_foundation.bundles.node import Place, make_node, to_plain
from amplifier_foundation.bundles.reader import read_text
from amplifier_foundation.bundles.substitution import substitute

MINIMAL = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}


def _load(folder: Path, text: str, env: dict[str, str] | None = None, **options: Any) -> Bundle:
    path = folder / "amplifier.yaml"
    path.write_text(text)
    return load_bundle(path, env={"HOME": str(folder / "home"), **(env or {})}, **options)


def _modules(bundle: Bundle, section: str = "hooks") -> list[str]:
    return [entry["module"] for entry in bundle.mount_plan[section]]


def _config(bundle: Bundle, module: str, section: str = "hooks") -> dict[str, Any]:
    entries = {entry["module"]: entry for entry in bundle.mount_plan[section]}
    config: dict[str, Any] = entries[module]["config"]
    return config


def test_the_default_bundle_needs_nothing_but_us(tmp_path: Path) -> None:
    """A useful default bundle that works with nothing installed but us."""
    bundle = load_bundle(project_dir=tmp_path, env={"HOME": str(tmp_path)})
    assert bundle.mount_plan["session"]["orchestrator"]["module"] == "loop-streaming"
    assert _modules(bundle, "providers") == ["provider-scripted"]
    assert "hooks-redaction" in _modules(bundle)
    assert [source.name for source in bundle.sources] == ["default.yaml"]


def test_a_key_in_the_environment_chooses_the_provider(tmp_path: Path) -> None:
    """The first provider that is there answers."""
    env = {"HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-ant-123456"}
    bundle = load_bundle(project_dir=tmp_path, env=env)
    assert _modules(bundle, "providers") == ["provider-anthropic", "provider-scripted"]


def test_every_module_of_the_default_bundle_is_one_of_ours(tmp_path: Path) -> None:
    """It names no module that the package does not declare."""
    import tomllib

    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    declared = set(project["entry-points"]["amplifier.modules"])
    bundle = load_bundle(project_dir=tmp_path, env={"HOME": str(tmp_path)})
    plan = bundle.mount_plan
    used = {plan["session"][key]["module"] for key in ("orchestrator", "context")}
    used |= {e["module"] for key in ("providers", "tools", "hooks") for e in plan[key]}
    assert used <= declared


def test_project_lies_over_user_over_defaults(tmp_path: Path) -> None:
    """Project over user over defaults."""
    user = tmp_path / "home" / ".config" / "amplifier"
    user.mkdir(parents=True)
    (user / "amplifier.yaml").write_text(
        "name: mine\nsession: {max_turns: 7, injection_size_limit: 99}\n"
    )
    project = tmp_path / "project" / ".amplifier"
    project.mkdir(parents=True)
    (project / "amplifier.yaml").write_text("session: {max_turns: 3}\n")
    bundle = load_bundle(project_dir=tmp_path / "project", env={"HOME": str(tmp_path / "home")})
    session = bundle.mount_plan["session"]
    assert (bundle.name, session["max_turns"], session["injection_size_limit"]) == ("mine", 3, 99)
    assert session["injection_over_budget"] == "drop"
    assert len(bundle.sources) == 3


def test_the_user_file_follows_xdg(tmp_path: Path) -> None:
    """User: ~/.config/amplifier/amplifier.yaml, XDG."""
    folder = tmp_path / "xdg" / "amplifier"
    folder.mkdir(parents=True)
    (folder / "amplifier.yaml").write_text("name: from-xdg\n")
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert load_bundle(project_dir=tmp_path, env=env).name == "from-xdg"


def test_an_upper_entry_changes_the_lower_one_of_the_same_id(tmp_path: Path) -> None:
    """Module lists are merged by module id; the later wins."""
    (tmp_path / "base.yaml").write_text(
        "hooks:\n  - module: hooks-rules\n    priority: 5\n    config: {a: 1, b: {c: 2, d: 3}}\n"
        "  - hooks-notify\n"
    )
    bundle = _load(
        tmp_path,
        "include: base.yaml\ninherit: false\n"
        "session: {orchestrator: loop-basic, context: context-simple}\n"
        "hooks:\n  - hooks-backup\n  - module: hooks-rules\n    config: {b: {c: 9}}\n",
    )
    assert _modules(bundle) == ["hooks-rules", "hooks-notify", "hooks-backup"]
    assert _config(bundle, "hooks-rules") == {"a": 1, "b": {"c": 9, "d": 3}}
    assert bundle.mount_plan["hooks"][0]["priority"] == 5


def test_a_name_tells_two_entries_of_one_module_apart(tmp_path: Path) -> None:
    """Module lists are merged by module id or name."""
    bundle = _load(
        tmp_path,
        "hooks:\n"
        "  - {module: hooks-rules, name: one, config: {x: 1}}\n"
        "  - {module: hooks-rules, name: two, config: {x: 2}}\n",
    )
    named = {entry.get("name"): entry["config"] for entry in bundle.mount_plan["hooks"]}
    assert named["one"] == {"x": 1}
    assert named["two"] == {"x": 2}


def test_enabled_false_removes(tmp_path: Path) -> None:
    """`enabled: false` removes."""
    bundle = _load(tmp_path, "hooks:\n  - {module: hooks-redaction, enabled: false}\n")
    assert "hooks-redaction" not in _modules(bundle)
    assert "hooks-command-guard" in _modules(bundle)


def test_what_the_user_locked_no_project_can_switch_off(tmp_path: Path) -> None:
    """A cloned project must not remove the guards of the person who opens it."""
    user = tmp_path / "home" / ".config" / "amplifier"
    user.mkdir(parents=True)
    mine = user / "amplifier.yaml"
    mine.write_text("hooks:\n  - module: hooks-command-guard\n    locked: true\n")
    with pytest.raises(BundleError) as caught:
        _load(tmp_path, "hooks:\n  - {module: hooks-command-guard, enabled: false}\n")
    assert str(caught.value) == (
        f"{tmp_path}/amplifier.yaml:2: hooks-command-guard: "
        f"is locked in {mine}:3 and cannot be changed here"
    )


def test_another_loop_does_not_inherit_the_settings_of_the_old_one(tmp_path: Path) -> None:
    """Overrides: a different module starts from its own configuration."""
    (tmp_path / "base.yaml").write_text(
        "session:\n  orchestrator: {module: loop-basic, config: {speed: 3}}\n"
    )
    bundle = _load(tmp_path, "include: base.yaml\nsession: {orchestrator: loop-streaming}\n")
    assert bundle.mount_plan["session"]["orchestrator"] == {"module": "loop-streaming"}


def test_inherit_false_stands_alone(tmp_path: Path) -> None:
    """A bundle may refuse what lies below it, and then needs a loop and a context of its own."""
    with pytest.raises(BundleError, match=r"session\.orchestrator: is missing.*'loop-basic'"):
        _load(tmp_path, "inherit: false\n")
    text = "inherit: false\nsession: {orchestrator: loop-basic, context: context-simple}\n"
    assert _modules(_load(tmp_path, text)) == []


def test_includes_are_found_from_the_file_that_names_them(tmp_path: Path) -> None:
    """Includes: relative files."""
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    (tmp_path / "parts" / "one.yaml").write_text("include: deep/two.yaml\nname: one\n")
    (tmp_path / "parts" / "deep" / "two.yaml").write_text(
        "name: two\ndescription: below\nhooks: [./own_hook.py]\n"
    )
    bundle = _load(tmp_path, "include: [parts/one.yaml]\n")
    assert (bundle.name, bundle.description) == ("one", "below")
    own = next(entry for entry in bundle.mount_plan["hooks"] if entry["module"] == "own-hook")
    assert own["source"] == str(tmp_path / "parts" / "deep" / "own_hook.py")
    assert Path(own["source"]) in bundle.watched


def test_the_same_file_may_be_included_twice_without_a_circle(tmp_path: Path) -> None:
    """Includes: only a cycle is an error."""
    (tmp_path / "common.yaml").write_text("name: common\n")
    (tmp_path / "a.yaml").write_text("include: common.yaml\n")
    (tmp_path / "b.yaml").write_text("include: common.yaml\n")
    assert _load(tmp_path, "include: [a.yaml, b.yaml]\n").name == "common"


def test_variables_are_filled_in_and_typed_as_written(tmp_path: Path) -> None:
    """`${ENV}` and `${ENV:-default}` substitution; `$${` escapes."""
    bundle = _load(
        tmp_path,
        "hooks:\n  - module: hooks-rules\n    config:\n"
        "      number: ${PORT}\n      quoted: '${PORT}'\n      fallback: ${NONE:-x y}\n"
        "      kept: $${PORT}\n      several: a${PORT}b${EMPTY:-c}\n      flag: ${FLAG}\n"
        "      plain: cost is $5\n",
        env={"PORT": "8080", "EMPTY": "", "FLAG": "true"},
    )
    assert _config(bundle, "hooks-rules") == {
        "number": 8080,
        "quoted": "8080",
        "fallback": "x y",
        "kept": "${PORT}",
        "several": "a8080bc",
        "flag": True,
        "plain": "cost is $5",
    }


def test_a_variable_cannot_smuggle_in_keys(tmp_path: Path) -> None:
    """Substitution happens in values, after parsing."""
    bundle = _load(
        tmp_path,
        "hooks:\n  - module: hooks-rules\n    config: {a: '${X}', b: 1}\n",
        env={"X": "1, b: 2}\naudit: {enabled: false"},
    )
    assert _config(bundle, "hooks-rules")["b"] == 1
    assert bundle.mount_plan["audit"]["enabled"] is True


def test_a_missing_variable_of_an_entry_that_is_switched_off_does_not_matter(
    tmp_path: Path,
) -> None:
    """An override may take away what would otherwise need a variable."""
    (tmp_path / "base.yaml").write_text("hooks:\n  - {module: h-x, config: {key: '${NONE}'}}\n")
    text = "include: base.yaml\nhooks:\n  - {module: h-x, config: {key: given}}\n"
    assert _config(_load(tmp_path, text), "h-x") == {"key": "given"}


def test_secrets_from_variables_are_remembered_and_not_shown(tmp_path: Path) -> None:
    """What came in from a variable named like a secret can be scrubbed from display and trail."""
    text = "providers:\n  - {module: provider-openai, config: {api_key: '${MY_API_KEY}'}}\n"
    bundle = _load(tmp_path, text, env={"MY_API_KEY": "hunter2-hunter2"})
    assert bundle.secrets == {"hunter2-hunter2"}
    assert "hunter2" not in repr(bundle)


def test_yes_no_dates_and_times_stay_what_a_person_reads(tmp_path: Path) -> None:
    """A plan is written as JSON, so only JSON's kinds of values come out."""
    text = (
        "hooks:\n  - module: h-x\n    config: {day: 2026-11-15, time: 12:30, on: off, hex: 0x10}\n"
    )
    config = _config(_load(tmp_path, text), "h-x")
    assert config == {"day": "2026-11-15", "time": "12:30", "on": False, "hex": 16}


def test_anchors_and_merge_keys_work(tmp_path: Path) -> None:
    """Plain YAML stays plain YAML; own keys start with `x-`."""
    text = (
        "x-base: &base {timeout: 5, retries: 1}\n"
        "hooks:\n  - {module: h-x, config: {<<: *base, retries: 2}}\n"
    )
    assert _config(_load(tmp_path, text), "h-x") == {"timeout": 5, "retries": 2}


def test_a_bundle_is_frozen(tmp_path: Path) -> None:
    """The outcome is a frozen `Bundle`."""
    bundle = _load(tmp_path, "")
    bundle.mount_plan["hooks"].clear()
    assert _modules(bundle)
    with pytest.raises(dataclasses.FrozenInstanceError):
        bundle.name = "other"  # type: ignore[misc]


def test_the_digest_follows_the_plan_and_nothing_else(tmp_path: Path) -> None:
    """`.digest`: the same plan, the same digest, whatever the layout of the file."""
    one = _load(tmp_path, "session: {max_turns: 3}\n").digest
    same = _load(tmp_path, "# a comment\nsession:\n  max_turns: 3\n").digest
    other = _load(tmp_path, "session: {max_turns: 4}\n").digest
    assert one == same != other


def test_agents_name_tools_or_modules(tmp_path: Path) -> None:
    """`agents`: name → description, instructions, tools, hooks, providers, session overrides."""
    bundle = _load(
        tmp_path,
        "agents:\n  critic:\n    description: Reviews.\n    tools: [Read, tool-search]\n"
        "    hooks: [{module: h-x, enabled: false}, h-y]\n    session: {max_turns: 2}\n",
    )
    critic = bundle.mount_plan["agents"]["critic"]
    assert critic["tools"] == ["Read", {"module": "tool-search", "config": {}}]
    assert critic["hooks"] == [{"module": "h-y", "config": {}}]
    assert critic["session"] == {"max_turns": 2}


def test_a_mount_plan_written_in_code_is_checked_by_the_same_rules() -> None:
    """A public function validates a mount plan dict."""
    validate_mount_plan(MINIMAL)
    wrong = {**MINIMAL, "hooks": [{"module": "x", "sorce": "y"}]}
    assert [str(problem) for problem in mount_plan_problems(wrong, "plan of test")] == [
        "plan of test: hooks[0].sorce: unknown key 'sorce'; did you mean 'source'?"
    ]
    with pytest.raises(BundleError, match=r"mount plan: session\.context: is missing"):
        validate_mount_plan({"session": {"orchestrator": "loop-basic"}})
    assert str(mount_plan_problems([])[0]) == "mount plan: must be a mapping, got list"  # type: ignore[arg-type]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)


def test_a_plan_of_the_ecosystem_is_a_valid_plan() -> None:
    """Mount plan: session, providers, tools, hooks with module, source, config, agents."""
    plan = {
        **MINIMAL,
        "orchestrator": {"config": {"max_iterations": 5}},
        "context": {"config": {}},
        "providers": [{"module": "p", "source": "git+https://host.test/p@main", "config": {}}],
        "hooks": [{"module": "hooks-logging", "config": None}],
        "agents": {},
    }
    assert mount_plan_problems(plan) == ()
    source = bundle_from_plan(plan).mount_plan["providers"][0]["source"]
    assert source == "git+https://host.test/p@main"


def test_a_bundle_can_be_written_in_code() -> None:
    """The same checks, no files."""
    bundle = bundle_from_plan({**MINIMAL, "hooks": ["hooks-rules"]})
    assert bundle.mount_plan["hooks"] == [{"module": "hooks-rules", "config": {}}]
    assert (bundle.sources, bundle.reload()) == ((), bundle)
    with pytest.raises(BundleError, match="did you mean 'hooks'"):
        bundle_from_plan({**MINIMAL, "hoks": []})


def test_naming_a_module_again_turns_it_on(tmp_path: Path) -> None:
    """Whoever configures a module wants it, unless the new entry says otherwise."""
    text = (
        "providers:\n  - module: provider-openai\n    config: { base_url: http://127.0.0.1/v1 }\n"
    )
    assert "provider-openai" in _modules(_load(tmp_path, text), "providers")
    off = text + "    enabled: false\n"
    assert "provider-openai" not in _modules(_load(tmp_path, off), "providers")


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
    """Frozen values, replaced rather than changed."""
    place = Place("x")
    below, above = make_node(a, place), make_node(b, place)
    before = copy.deepcopy((to_plain(below), to_plain(above)))
    merge(below, above)
    assert (to_plain(below), to_plain(above)) == before


@given(st.text().filter(lambda text: "${" not in text))
def test_text_without_references_is_left_alone(text: str) -> None:
    """Only `${` starts a reference."""
    assert substitute(text, {}) == text


@given(st.text())
def test_escaping_maps_back_exactly(text: str) -> None:
    """`$${` stands for `${`, so every text can be written."""
    if "$${" not in text and "$$" not in text:
        assert substitute(text.replace("${", "$${"), {}) == text


@given(values)
def test_any_plan_gets_sentences_and_never_a_crash(value: Any) -> None:
    """Bad input gets a clear sentence."""
    plan = {"hooks": value, "session": value, "agents": value, "audit": value}
    assert all(str(problem) for problem in mount_plan_problems(plan))


def _problems_of(text: str) -> str:
    try:
        json.dumps(to_plain(read_text(text, "f.yaml", {}, set())), default=str)
    except BundleError as error:
        return str(error)
    return ""


@given(st.text(max_size=60))
def test_any_text_is_a_document_or_a_bundle_error(text: str) -> None:
    """Bad input gets a clear sentence."""
    message = _problems_of(text)
    assert not message or message.startswith("f.yaml")
