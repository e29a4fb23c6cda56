"""What the base classes of authors' tests need of pytest."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from amplifier_core.validation import pytest_marks
from amplifier_core.validation.pytest_marks import asynchronous, require_module


async def _sample() -> None: ...


def test_a_test_is_marked_for_strict_mode() -> None:
    """pytest-asyncio runs no other there."""
    marked = asynchronous(_sample)
    assert [mark.name for mark in marked.pytestmark] == ["asyncio"]  # type: ignore[attr-defined]


def test_without_pytest_nothing_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes can be imported all the same."""

    async def plain() -> None: ...

    monkeypatch.setitem(sys.modules, "pytest", None)
    loaded = runpy.run_path(str(pytest_marks.__file__))
    assert loaded["asynchronous"](plain) is plain
    assert not hasattr(plain, "pytestmark")


def test_where_there_is_no_module_a_test_is_skipped() -> None:
    """And it says how to name one."""
    assert require_module(Path("here")) == Path("here")
    with pytest.raises(pytest.skip.Exception, match="--module-path"):
        require_module(None)
