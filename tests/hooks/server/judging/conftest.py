"""A trusted project, and each of the two programs that judge in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server.settings import JudgeSettings
from tests.hooks.server.judging import switches
from tests.hooks.server.judging.scene import Scene, run_judge, run_serve, write_project


@pytest.fixture
def folder(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project; `store` has set where the person's files are, and is where they answer."""
    monkeypatch.setenv("AMPLIFIER_STORE", str(tmp_path / "store" / "store.db"))
    switches.reset()
    return write_project(tmp_path / "project")


@pytest.fixture(params=["judge", "serve"])
async def scene(request: pytest.FixtureRequest, folder: Path, store: Store) -> AsyncIterator[Scene]:
    """Either program."""
    run = run_judge if request.param == "judge" else run_serve
    async with run(JudgeSettings(folder=folder), store) as running:
        yield running


@pytest.fixture
async def judge(folder: Path, store: Store) -> AsyncIterator[Scene]:
    """`amplifier judge`: what does not depend on the program."""
    async with run_judge(JudgeSettings(folder=folder), store) as running:
        yield running


@pytest.fixture
async def client(judge: Scene) -> AsyncIterator[httpx2.AsyncClient]:
    """A program at it."""
    async with judge.client() as found:
        yield found
