"""Which files make a bundle: the project's over the user's over the packaged one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.bundles import BundleError, load_bundle
from amplifier_hooks.agent.bundles.load import find_user_candidate, list_project_candidates
from amplifier_hooks.agent.bundles.mount_plan import keep_hooks_only, write_out
from amplifier_hooks.agent.trust.comparison import _CONFIGS, _find
from amplifier_hooks.guards.policy.profile import PROFILED_GUARDS
from amplifier_hooks.yaml_files.node import Place, make_node, to_plain
from tests.hooks.agent.bundles.files import ALONE, complaint, config, load, modules

PLAN: dict[str, Any] = {
    "session": {"orchestrator": "loop-streaming", "context": "context-x", "debug": True},
    "providers": ["provider-anthropic"],
    "tools": ["tool-bash"],
    "agents": {"helper": {}},
    "hooks": [
        "hooks-command-guard",
        {"module": "hooks-session-naming"},
        {"module": "hooks-progress-monitor", "config": {"interval": 3}},
        {"module": "hooks-progress-monitor", "name": "loud", "config": {"show": True}},
    ],
    "approval": {"via": "store"},
    "audit": {"enabled": True},
    "sandbox": {"mode": "strict"},
}


def test_nothing_that_acts_is_left() -> None:
    """No model, tools or sub-agents; the other program has its own."""
    kept = keep_hooks_only(PLAN)
    assert (kept["providers"], kept["tools"], kept["agents"]) == ([], [], {})
    assert kept["sandbox"] == {"mode": "off"}
    assert kept["session"]["orchestrator"] == "loop-basic"


def test_everything_that_governs_is_left() -> None:
    """Options of the session, who is asked, the trail, and the hooks that need no model."""
    kept = keep_hooks_only(PLAN)
    assert kept["session"]["debug"] is True
    assert (kept["approval"], kept["audit"]) == (PLAN["approval"], PLAN["audit"])
    names = [one if isinstance(one, str) else one["module"] for one in kept["hooks"]]
    assert names == ["hooks-command-guard", "hooks-progress-monitor", "hooks-progress-monitor"]


def test_progress_is_left_to_the_other_program_unless_it_is_asked_for() -> None:
    """Lines of ours would stand between its own."""
    _, quiet, loud = keep_hooks_only(PLAN)["hooks"]
    assert quiet["config"] == {"interval": 3, "show": False}
    assert loud["config"] == {"show": True}
    assert PLAN["hooks"][2]["config"] == {"interval": 3}


def test_the_other_program_decides_how_many_calls_run_at_once() -> None:
    """Unless the bundle says so: calls may wait for one another."""
    assert keep_hooks_only(PLAN)["session"]["limits"] == {"tool_calls_at_once": None}
    limited = {**PLAN, "session": {**PLAN["session"], "limits": {"tool_calls_at_once": 2}}}
    assert keep_hooks_only(limited)["session"]["limits"] == {"tool_calls_at_once": 2}


def test_the_model_that_judges_questions_is_left() -> None:
    """It is not the other program's model; without the judge there is none."""
    judged = {**PLAN, "hooks": [*PLAN["hooks"], {"module": "hooks-model-judge"}]}
    assert keep_hooks_only(judged)["providers"] == ["provider-anthropic"]


GUARD = "hooks-command-guard"


def read_config(folder: Path, text: str) -> dict[str, Any]:
    (folder / "amplifier.yaml").write_text(text)
    plan = load_bundle(project_dir=folder).mount_plan
    config: dict[str, Any] = next(
        one.get("config", {}) for one in plan["hooks"] if one["module"] == GUARD
    )
    return config


def test_the_word_goes_to_the_guard(tmp_path: Path) -> None:
    assert read_config(tmp_path, "profile: strict\n") == {"profile": "strict"}
    assert read_config(tmp_path, "name: x\n") == {}


def test_a_guards_own_profile_stays(tmp_path: Path) -> None:
    own = f"hooks:\n  - {{module: {GUARD}, config: {{profile: careful, ask: [make]}}}}\n"
    found = read_config(tmp_path, f"profile: strict\n{own}")
    assert found == {"profile": "careful", "ask": ["make"]}


def test_another_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="profile"):
        read_config(tmp_path, "profile: quiet\n")


def test_the_profile_beside_a_locked_guard_is_locked(tmp_path: Path) -> None:
    locked = f"hooks:\n  - {{module: {GUARD}, locked: true}}\n"
    (tmp_path / "base.yaml").write_text(f"profile: strict\n{locked}")
    with pytest.raises(BundleError, match="locked"):
        read_config(tmp_path, "include: base.yaml\nprofile: calm\n")
    assert read_config(tmp_path, "include: base.yaml\n")["profile"] == "strict"


def test_every_guard_with_the_option_is_known() -> None:
    """A guard of ours that gets the option must get the word of the bundle, too."""
    found = {
        module
        for module, (place, _) in _CONFIGS.items()
        if "profile" in _find(f"{place}:Config").model_fields
    }
    assert found == PROFILED_GUARDS


BASE = Path("/project")


def written_out(document: Any) -> Any:
    return to_plain(write_out(make_node(document, Place("f")), BASE))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("hooks-x", {"module": "hooks-x"}),
        ({"module": "hooks-x", "priority": 1}, {"module": "hooks-x", "priority": 1}),
        ("./my_hook.py", {"module": "my-hook", "source": "/project/my_hook.py"}),
        ("../up", {"module": "up", "source": "/project/../up"}),
        ("/abs/x.py", {"module": "x", "source": "/abs/x.py"}),
        ({"module": "m", "source": "sub/m.py"}, {"module": "m", "source": "/project/sub/m.py"}),
        ({"module": "m", "source": "git+https://h.invalid/r"}, {"module": "m", "source": "git+https://h.invalid/r"}),
        (3, 3),
        (None, None),
        ({"config": {}}, {"config": {}}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("section", ["providers", "tools", "hooks"])
def test_an_entry_in_its_long_form(section: str, entry: Any, expected: Any) -> None:
    """Ids become entries, paths count from the folder of the file; the rest is for the schema."""
    assert written_out({section: [entry]}) == {section: [expected]}


def test_home_is_the_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    """`~/` leads there, wherever the file lies."""
    monkeypatch.setenv("HOME", "/me")
    assert written_out({"hooks": ["~/x.py"]})["hooks"][0]["source"] == "/me/x.py"
    assert written_out({"audit": {"path": "~/trail"}}) == {"audit": {"path": "/me/trail"}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"session": {"context": "c"}}, {"session": {"context": {"module": "c"}}}),
        ({"audit": {"path": "trail"}}, {"audit": {"path": "/project/trail"}}),
        ({"audit": {"path": ""}}, {"audit": {"path": ""}}),
        (
            {"agents": {"a": {"tools": ["Read", "tool-x", "./y.py"], "hooks": ["h"]}}},
            {
                "agents": {
                    "a": {
                        "tools": [
                            "Read",
                            {"module": "tool-x"},
                            {"module": "y", "source": "/project/y.py"},
                        ],
                        "hooks": [{"module": "h"}],
                    }
                }
            },
        ),
        (
            {"agents": {"a": {"session": {"orchestrator": "o"}}}},
            {"agents": {"a": {"session": {"orchestrator": {"module": "o"}}}}},
        ),
        ({"agents": ["a"]}, {"agents": ["a"]}),
    ],
)
def test_every_place_where_a_module_or_a_path_may_stand(document: Any, expected: Any) -> None:
    """Names of tools like Read stay names; ids of modules have a dash, paths a slash."""
    assert written_out(document) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SECTIONS = st.sampled_from(["session", "hooks", "tools", "agents", "audit", "other"])


@given(st.dictionaries(SECTIONS, VALUES))
def test_writing_out_twice_changes_nothing_more(document: dict[str, Any]) -> None:
    """And never fails, whatever stands where a section should."""
    once = written_out(document)
    assert written_out(once) == once


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("required", {"mode": "required"}),
        (False, {"mode": "off"}),
        ({"mode": False}, {"mode": "off"}),
        ({"write": ["out", "/abs"]}, {"write": ["/project/out", "/abs"]}),
    ],
)
def test_a_sandbox_in_its_long_form(written: Any, expected: Any) -> None:
    """One word is its mode; `off` is what YAML calls false; paths count from the file."""
    assert written_out({"sandbox": written}) == {"sandbox": expected}


@pytest.mark.parametrize(
    ("given", "expected"),
    [("team.db", "/project/team.db"), ("postgresql://db.test/a", "postgresql://db.test/a")],
)
def test_a_store_in_a_file_is_meant_from_the_folder_of_the_bundle(
    given: str, expected: str
) -> None:
    """One that is an address stays as it is."""
    assert written_out({"approval": {"store": given}}) == {"approval": {"store": expected}}


def test_a_word_and_rules_at_the_top_are_entries_of_hooks(tmp_path: Path) -> None:
    """`secrets` and `rules` are short for their hooks; a document is written out once."""
    text = "secrets: ask\nrules:\n  - {path: .env, action: deny}\nhooks: [hooks-datetime]\n"
    bundle = load(tmp_path, text)
    assert config(bundle, "hooks-secret-guard") == {"mode": "ask"}
    assert config(bundle, "hooks-rules") == {"rules": [{"path": ".env", "action": "deny"}]}
    place = bundle.place_of("hooks-rules", option=("rules", 0))
    assert place is not None
    assert place.line == 3
    twice = write_out(write_out(make_node({"secrets": "ask"}, Place("a")), tmp_path), tmp_path)
    assert len(twice.mapping()["hooks"].items()) == 1


def test_rules_of_several_files_hold_together(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text("rules: [{path: .env, action: deny}]\n")
    bundle = load(tmp_path, "include: team.yaml\nrules: [{path: x, action: deny}]\n")
    rules = [one for one in bundle.mount_plan["hooks"] if one["module"] == "hooks-rules"]
    assert [one["config"]["rules"][0]["path"] for one in rules] == [".env", "x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("secrets: maybe\n", "1: secrets: unknown value 'maybe'; have ask, hidden, open"),
        ("rules: 3\n", "1: rules: must be a list, got a whole number 3"),
        ("hooks: 3\nsecrets: ask\n", "1: hooks: must be a list, got a whole number 3"),
    ],
)
def test_a_wrong_word_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "amplifier.yaml"
    path.write_text(text)
    assert complaint(path) == f"{path}:{said}"


def test_the_default_bundle_needs_nothing_but_us(tmp_path: Path) -> None:
    """Without any file there is a bundle, with guards and a model that needs no key."""
    bundle = load_bundle(project_dir=tmp_path, env={"HOME": str(tmp_path)})
    assert bundle.mount_plan["session"]["orchestrator"]["module"] == "loop-streaming"
    assert modules(bundle, "providers") == ["provider-scripted"]
    assert "hooks-redaction" in modules(bundle)
    assert [source.name for source in bundle.sources] == ["default.yaml"]


def test_a_key_in_the_environment_chooses_the_provider(tmp_path: Path) -> None:
    """The first provider that is there answers."""
    env = {"HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-ant-123456"}
    bundle = load_bundle(project_dir=tmp_path, env=env)
    assert modules(bundle, "providers") == ["provider-anthropic", "provider-scripted"]


def test_every_module_of_the_default_bundle_is_one_of_ours(tmp_path: Path) -> None:
    """It names no module that the package does not declare."""

    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    declared = set(project["entry-points"]["amplifier.modules"])
    bundle = load_bundle(project_dir=tmp_path, env={"HOME": str(tmp_path)})
    plan = bundle.mount_plan
    used = {plan["session"][key]["module"] for key in ("orchestrator", "context")}
    used |= {e["module"] for key in ("providers", "tools", "hooks") for e in plan[key]}
    assert used <= declared


def test_project_lies_over_user_over_defaults(tmp_path: Path) -> None:
    """What the project leaves open is the user's choice, then the package's."""
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
    """A folder of its own for settings is respected."""
    folder = tmp_path / "xdg" / "amplifier"
    folder.mkdir(parents=True)
    (folder / "amplifier.yaml").write_text("name: from-xdg\n")
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert load_bundle(project_dir=tmp_path, env=env).name == "from-xdg"


def test_inherit_false_stands_alone(tmp_path: Path) -> None:
    """A bundle may refuse what lies below it, and then needs a loop and a context of its own."""
    with pytest.raises(BundleError, match=r"session\.orchestrator: is missing.*'loop-basic'"):
        load(tmp_path, "inherit: false\n")
    text = "inherit: false\nsession: {orchestrator: loop-basic, context: context-simple}\n"
    assert modules(load(tmp_path, text)) == []


def test_two_project_bundles_are_one_too_many(tmp_path: Path) -> None:
    """Which of the two counts is not guessed."""
    (tmp_path / ".amplifier").mkdir()
    first, second = tmp_path / "amplifier.yaml", tmp_path / ".amplifier" / "amplifier.yaml"
    first.write_text("")
    second.write_text("")
    with pytest.raises(BundleError) as caught:
        load_bundle(project_dir=tmp_path, env={"HOME": "/nowhere"})
    assert str(caught.value) == f"{first}: there is also {str(second)!r}; keep one of the two"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"HOME": "/h"}, "/h/.config/amplifier/amplifier.yaml"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/amplifier/amplifier.yaml"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, "/h/.config/amplifier/amplifier.yaml"),
    ],
)
def test_where_a_person_keeps_a_bundle(env: dict[str, str], expected: str) -> None:
    """A folder that is not absolute does not count, as XDG has it."""
    assert find_user_candidate(env) == Path(expected)


def test_layers_can_be_left_out(tmp_path: Path) -> None:
    """Without the user's file, and without the packaged one."""
    user = find_user_candidate({"HOME": str(tmp_path)})
    user.parent.mkdir(parents=True)
    user.write_text("name: mine\n")
    (tmp_path / "amplifier.yaml").write_text(ALONE.replace("inherit: false\n", ""))
    env = {"HOME": str(tmp_path)}
    assert load_bundle(project_dir=tmp_path, env=env).name == "mine"
    assert load_bundle(project_dir=tmp_path, env=env, user=False).name == "default"
    alone = load_bundle(project_dir=tmp_path, env=env, user=False, defaults=False)
    assert (alone.name, modules(alone)) == ("amplifier", [])


def test_files_that_would_be_read_if_they_were_there_are_watched(tmp_path: Path) -> None:
    """So that a bundle that appears later is noticed."""
    env = {"HOME": str(tmp_path)}
    bundle = load_bundle(project_dir=tmp_path, env=env)
    assert {*list_project_candidates(tmp_path), find_user_candidate(env)} <= set(bundle.watched)
    assert not set(list_project_candidates(tmp_path)) & set(bundle.sources)


def test_reading_again_reads_what_is_there_now(tmp_path: Path) -> None:
    """The same files, the same variables, another content."""
    bundle = load(tmp_path, "name: one\n")
    (tmp_path / "amplifier.yaml").write_text("name: two\n")
    assert (bundle.name, bundle.reload().name) == ("one", "two")
    assert complaint(tmp_path / "gone.yaml").endswith("No such file or directory")
