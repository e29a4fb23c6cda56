"""What the tests of the loader share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.modules import imports_undone


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages are imported from, as after an installation."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder
