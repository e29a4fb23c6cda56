"""Exceptions that were recorded."""

from __future__ import annotations

import pytest

from amplifier_core.llm_errors import LLMError
from amplifier_core.utils import describe_error
from amplifier_hooks.insight.replay.stand_ins.exceptions import make_exception


@pytest.mark.parametrize(
    ("name", "message", "reads"),
    [
        ("KeyError", "'x'", "KeyError: 'x'"),
        ("MemoryError", "", "MemoryError"),
        ("MemoryError", "MemoryError", "MemoryError"),
        ("not a name", "x", "Exception: x"),
    ],
)
def test_one_that_is_made_again_reads_the_same(name: str, message: str, reads: str) -> None:
    """Whatever its class was."""
    assert describe_error(make_exception(name, message)) == reads


def test_it_can_be_of_a_kind_that_somebody_catches() -> None:
    """By its base."""
    assert isinstance(make_exception("Odd", "x", LLMError), LLMError)
