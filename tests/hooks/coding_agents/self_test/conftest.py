"""A home in which all agents are guarded, with one resident process for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.daemon.control import stop_resident
from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard
from amplifier_hooks.coding_agents.installing.installation import Target
from tests.hooks.coding_agents.self_test.guarded import BUNDLE
from tests.support.agent_homes import empty_home
from tests.support.trust import trust_project


@pytest.fixture(scope="session")
def guarded_home() -> Iterator[dict[str, str]]:
    """The variables that lead to it; nothing else of a test sees them."""
    names = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "PATH")
    with pytest.MonkeyPatch.context() as patch, empty_home(patch) as home:
        project = home / "project"
        project.mkdir()
        (project / "amplifier.yaml").write_text(BUNDLE)
        trust_project(project)
        for agent in AGENTS:
            install_guard(Target(agent, "user", project), GuardOptions())
        kept = {name: patch_value(name) for name in names}
        patch.undo()
        yield kept
        stop_resident(choose_folder(kept))


def patch_value(name: str) -> str:
    """The variable as it is now."""

    return os.environ[name]


@pytest.fixture
def project(guarded_home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project in that home; the current folder is there."""
    for name, value in guarded_home.items():
        monkeypatch.setenv(name, value)
    folder = Path(guarded_home["HOME"]) / "project"
    monkeypatch.chdir(folder)
    return folder
