"""The files that init writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks import load_bundle
from amplifier_hooks.agent.trust.comparison import compare_outlines, select
from amplifier_hooks.agent.trust.outline import outline_plan
from amplifier_hooks.cli.commands.init import write_bundle


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
