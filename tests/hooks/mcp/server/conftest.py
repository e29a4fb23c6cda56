"""A person whose home is empty, and one whose home is full; no tool changes either."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.hooks.mcp.server.world import World


def move_in(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be that person: nothing of this machine; the current folder is the project."""
    for name in ("AMPLIFIER_STORE", "AMPLIFIER_MODULES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("XDG_DATA_HOME", str(world.home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(world.home / "config"))
    monkeypatch.chdir(world.project)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """An empty home."""
    made = World(tmp_path)
    move_in(made, monkeypatch)
    return made


@pytest.fixture(scope="session")
def full_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: nothing that the tests do may change it."""
    made = World(tmp_path_factory.mktemp("full"))
    with pytest.MonkeyPatch.context() as patch:
        move_in(made, patch)
        asyncio.run(made.fill())
    return made.home


@pytest.fixture
def full_world(full_home: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home with sessions, approvals and secrets, to be read only."""
    made = World(full_home)
    move_in(made, monkeypatch)
    return made
