"""Which programs a test is run with."""

from __future__ import annotations

import pytest

ALL = ("claude", "codex", "gemini", "copilot")


def run_with(*names: str) -> pytest.MarkDecorator:
    """The programs of a test, by name."""
    return pytest.mark.parametrize("program", names, indirect=True)


run_with_all = run_with(*ALL)
