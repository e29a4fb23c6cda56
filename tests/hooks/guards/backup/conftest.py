"""Fixtures of this folder."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.backup import locate_store
from tests.support.harness import Harness, finish


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").write_text("secret")
    return (tmp_path / "work").resolve()


@pytest.fixture(autouse=True)
def data_home(tmp_path, monkeypatch):
    """Copies go into the data of this test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def kept(work, data_home):
    return locate_store(work)


@pytest.fixture
async def before(work):
    """Emits tool:pre for a tool and a path; answers with the result."""
    harness = Harness(work, session_id="s-1")
    unmount = None

    async def emit(path, tool="Write", config=None):
        nonlocal unmount
        if unmount is None or config is not None:
            await finish(unmount)
            unmount = await harness.mount("backup", config)
        return await harness.answer(tool, {"file_path": str(path), "content": "new"})

    yield emit
    await finish(unmount)
