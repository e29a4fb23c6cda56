"""What the package offers."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")

from amplifier_hooks.coverage import PYDANTIC_AI
from amplifier_hooks.frameworks import pydantic_ai


def test_it_says_what_hooks_see() -> None:
    """The table is the one that `amplifier doctor` prints."""
    assert pydantic_ai.coverage() is PYDANTIC_AI


def test_its_names_are_there() -> None:
    """Everything that the page names."""
    assert set(pydantic_ai.__all__) == {"AmplifierHooks", "RunRefused", "coverage", "resume"}
