"""Which files make a bundle: the project's over the user's over the packaged one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from amplifier_hooks.agent.bundles import BundleError, load_bundle
from amplifier_hooks.agent.bundles.load import find_user_candidate, list_project_candidates
from tests.hooks.agent.bundles.files import ALONE, complaint, load, modules


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
