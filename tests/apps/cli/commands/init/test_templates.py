"""The files that init writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_apps.cli.commands.init.templates import write_bundle
from amplifier_foundation import load_bundle


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
