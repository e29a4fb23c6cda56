"""A bundle and the trust in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.mount_plan import MountPlan
from amplifier_hooks.cli.commands.hooks.testing import load_material
from tests.hooks.cli.conftest import Project


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_refusal_says_what_would_do(project: Project, trusted: bool) -> None:
    """It is empty where a person trusts the bundle."""
    project({"text": "x"}, trusted=trusted)
    _, refusal = await load_material(None)
    assert ("amplifier trust" in refusal) is not trusted


async def test_personal_settings_can_be_left_out(home: Path, project: Project) -> None:
    """What holds for this person does not hold for others."""
    project({"text": "x"})
    personal = home / "config" / "amplifier"
    personal.mkdir(parents=True)
    (personal / "amplifier.yaml").write_text("hooks: [hooks-git-status]\n")
    for user in (True, False):
        material, _ = await load_material(None, user=user)
        modules = [one.module for one in MountPlan.parse(material.bundle.mount_plan).hooks]
        assert ("hooks-git-status" in modules) is user
