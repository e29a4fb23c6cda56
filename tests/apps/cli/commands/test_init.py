"""amplifier init: a bundle and a hook to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_apps.cli.commands.init import HOOK
from amplifier_foundation import load_bundle
from tests.apps.cli.program import invoke


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
    assert "amplifier hooks list" in invoke("init", "proj").stdout
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
    assert (await space["on_tool_pre"]("tool:pre", call)).action == action


def test_what_is_there_is_overwritten_only_when_told(home: Path) -> None:
    """What a person has written is not lost."""
    (home / "amplifier.yaml").write_text("name: mine\n")
    refused = invoke("init")
    assert refused.code == 1
    assert "is there already; --force overwrites it" in refused.stderr
    assert (home / "amplifier.yaml").read_text() == "name: mine\n"
    assert not (home / "hooks").exists()
    assert invoke("init", "--force").code == 0
    assert (home / "amplifier.yaml").read_text() != "name: mine\n"


@pytest.mark.parametrize("name", ["plain", "with: colon", "quote'\"", "[list]", "ünï"])
def test_a_folder_of_any_name_gets_a_valid_bundle(home: Path, name: str) -> None:
    """The folder's name becomes the bundle's, whatever is in it."""
    assert invoke("init", name).code == 0
    assert load_bundle(project_dir=home / name).name == name
