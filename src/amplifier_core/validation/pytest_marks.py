"""pytest's marks and skips for the base classes of authors' tests, importable without pytest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., Any])

try:
    import pytest
except ImportError:
    pytest = None  # type: ignore[assignment]


def asynchronous(test: Test) -> Test:
    """Mark a test for pytest-asyncio, which in its strict mode runs no other."""
    marked: Test = test if pytest is None else pytest.mark.asyncio(test)
    return marked


def require_module(module_path: str | Path | None) -> str | Path:
    """The module under test; the test is skipped where there is none."""
    if module_path is None:
        pytest.skip("there is no package amplifier_module_* here; name a module with --module-path")
    return module_path
