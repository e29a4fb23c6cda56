"""amplifier init: a bundle and a hook to start from."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks import load_bundle
from amplifier_hooks.agent.trust.comparison import compare_outlines, select
from amplifier_hooks.agent.trust.outline import outline_plan
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.cli.commands.init import HOOK, write_bundle
from amplifier_hooks.machine.files import normalize
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke, run_amplifier, run_at_terminal
from tests.support.trust import look_at


@pytest.mark.parametrize("offline", [True, False])
def test_the_bundle_is_valid_as_it_is_and_with_its_comments_switched_on(
    offline: bool, tmp_path: Path
) -> None:
    """What is off can be switched on by taking the sign away."""
    path = tmp_path / "amplifier.yaml"
    path.write_text(write_bundle("a: name", offline=offline))
    assert load_bundle(path, user=False, env={}).name == "a: name"
    lines = path.read_text().splitlines()
    switched = [line.replace("# ", "", 1) if is_setting(line) else line for line in lines]
    path.write_text("\n".join(switched))
    hooks = [one["module"] for one in load_bundle(path, user=False, env={}).mount_plan["hooks"]]
    assert {"hooks-production-guard", "hooks-backup"} <= {*hooks}
    assert find_weaker(path) == []


@pytest.mark.parametrize("offline", [True, False])
def test_the_bundle_weakens_nothing_that_holds_without_it(offline: bool, tmp_path: Path) -> None:
    """Whoever begins with it has every guard of the default, with everything that it guards."""
    path = tmp_path / "amplifier.yaml"
    path.write_text(write_bundle("x", offline=offline))
    assert find_weaker(path) == []


def find_weaker(path: Path) -> list[str]:
    """What a bundle takes away of the packaged one."""
    usual = load_bundle(user=False, project=False, env={}).mount_plan
    written = load_bundle(path, user=False, env={}).mount_plan
    found = compare_outlines(outline_plan(usual), outline_plan(written))
    return [one.sentence for one in select(found, "weaker", "different")]


def is_setting(line: str) -> bool:
    """Whether a comment is a setting that is off."""
    text = line.strip().removeprefix("# ").strip()
    first = text.split(":")[0].removeprefix("- ").strip("{ ")
    return line.strip().startswith("#") and first in {
        *("providers", "module", "config", "patterns", "approval", "mode", "audit", "level"),
    }


def test_offline_there_is_a_script_and_elsewhere_none(tmp_path: Path) -> None:
    """So that a session needs no key."""
    assert "script:" in write_bundle("x", offline=True)
    assert "script:" not in write_bundle("x", offline=False)


def test_the_bundle_loads_and_mounts_the_hook(home: Path) -> None:
    """What was written is a working project."""
    done = invoke("init", "proj")
    assert done.code == 0
    assert "proj/amplifier.yaml" in done.stdout
    bundle = load_bundle(project_dir=home / "proj")
    assert bundle.name == "proj"
    hooks = [entry["module"] for entry in bundle.mount_plan["hooks"]]
    assert "first-hook" in hooks
    assert "hooks-linter-feedback" in hooks


def test_the_new_hook_is_listed_in_its_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the last line of the output promises."""
    assert re.search(r"amplifier'? hooks list", invoke("init", "proj").stdout)
    monkeypatch.chdir(home / "proj")
    listed = invoke("hooks", "list", "--event", "tool:pre")
    assert listed.code == 0
    assert "first_hook.py" in listed.stdout


@pytest.mark.parametrize(
    ("tool", "path", "action"),
    [
        ("Write", "a/uv.lock", "deny"),
        ("Edit", "Cargo.lock", "deny"),
        ("Write", "a/b.py", "continue"),
        ("Read", "a/uv.lock", "continue"),
    ],
)
async def test_the_first_hook_denies_writing_a_lock_file(tool: str, path: str, action: str) -> None:
    """It keeps what its docstring says."""
    space: dict[str, Any] = {}
    exec(compile(HOOK, "first_hook.py", "exec"), space)
    call = {"tool_name": tool, "tool_input": {"file_path": path}}
    assert (await space["protect_lock_files"]("tool:pre", call)).action == action


def test_what_is_there_is_overwritten_only_when_told(home: Path) -> None:
    """What a person has written is not lost."""
    (home / "amplifier.yaml").write_text("name: mine\n")
    refused = invoke("init")
    assert refused.code == 1
    assert "already exists; --force overwrites it" in refused.stderr
    assert (home / "amplifier.yaml").read_text() == "name: mine\n"
    assert not (home / "hooks").exists()
    assert invoke("init", "--force").code == 0
    assert (home / "amplifier.yaml").read_text() != "name: mine\n"


@pytest.mark.parametrize("name", ["plain", "with: colon", "quote'\"", "[list]", "ünï"])
def test_a_folder_of_any_name_gets_a_valid_bundle(home: Path, name: str) -> None:
    """The folder's name becomes the bundle's, whatever is in it."""
    assert invoke("init", name).code == 0
    assert load_bundle(project_dir=home / name).name == name


@pytest.mark.parametrize("folder", [".", "proj", "proj/../other"])
def test_what_was_written_is_trusted(home: Path, folder: str) -> None:
    """The person asked for it, and the program wrote it: both know what it is."""
    (home / "proj").mkdir()
    assert invoke("init", folder).code == 0
    assert TrustStore().is_trusted(look_at(normalize(home / folder)))


def test_what_lay_there_before_is_not_trusted_with_it(home: Path, project: Project) -> None:
    """Such as hooks of a layer that the new bundle stands on."""
    (home / "config" / "amplifier").mkdir(parents=True)
    (home / "planted.py").write_text("")
    (home / "config" / "amplifier" / "amplifier.yaml").write_text(
        f"hooks:\n  - module: {home}/planted.py\n"
    )
    assert invoke("init", "proj").code == 0
    assert TrustStore().list() == []


def test_a_broken_layer_below_does_not_keep_the_files_from_being_written(home: Path) -> None:
    """The next command says what is wrong with it."""
    (home / "config" / "amplifier").mkdir(parents=True)
    (home / "config" / "amplifier" / "amplifier.yaml").write_text("hoks: []\n")
    assert invoke("init", "proj").code == 0
    assert (home / "proj" / "amplifier.yaml").exists()
    assert TrustStore().list() == []


def test_an_edit_of_the_first_hook_asks_once_more(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the comment in the bundle says."""
    invoke("init", "proj")
    monkeypatch.chdir(home / "proj")
    path = Path("hooks/first_hook.py")
    path.write_text(path.read_text().replace("uv.lock", "pdm.lock"))
    listed = invoke("hooks", "list")
    assert listed.code == 3
    assert "amplifier trust" in listed.stdout


def test_the_path_without_a_key_ends_in_a_session(home: Path) -> None:
    """As `init --offline` prints it: look at the hooks, run, look at what happened."""
    shown = run_amplifier("init", "--offline", "proj").stdout
    steps = [line.strip().split("  ")[0] for line in shown.split("Next\n")[1].splitlines()]
    assert steps[0] == "cd proj"
    script = "\n".join(["set -e", *steps])
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "first_hook.protect_lock_files" in done.stdout
    assert re.search(r"first_hook\.protect_lock_files +guard", done.stdout)
    assert "That is all. I read one file" in done.stdout
    assert (
        "denied by first_hook.protect_lock_files: uv.lock is written by its own tool" in done.stdout
    )
    assert "hooks-production-guard asks" in done.stdout
    assert not (home / "proj" / "uv.lock").exists()
    assert not (home / "proj" / "production").exists()


def test_the_scripted_session_asks_and_takes_a_yes(home: Path) -> None:
    """What a person allows is written."""
    assert invoke("init", "--offline").code == 0
    with run_at_terminal("run", "show me what hooks do", rows=40) as program:
        program.wait_for_question("production/app.conf")
        program.press("a")
        assert program.wait_end() == 0
    assert (home / "production" / "app.conf").read_text() == "workers = 4"


def test_next_steps_stay_here_where_the_bundle_is(home: Path) -> None:
    """Nobody is sent into the folder that they are in."""
    shown = invoke("init").stdout
    assert "cd " not in shown
    assert "without one: init --offline" in shown


def test_editors_find_the_schema_beside_the_bundle(home: Path) -> None:
    """The first line of the bundle names the file that was written with it."""
    assert invoke("init").code == 0
    first, *_ = (home / "amplifier.yaml").read_text().splitlines()
    place = first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads((home / place).read_text())["title"] == "amplifier.yaml"
