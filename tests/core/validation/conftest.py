"""What the tests of validation share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.modules import imports_undone


@pytest.fixture(autouse=True)
def _undo_imports() -> Iterator[None]:
    with imports_undone():
        yield
