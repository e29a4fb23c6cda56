"""Texts that every database can keep."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from amplifier_hooks.server.bodies import Comment, Id, Name, check_text


@pytest.mark.parametrize("text", ["", "plain", "ä🐍\n\x1b", "\ufffe"])
def test_ordinary_text_passes_as_it_is(text: str):
    """Control characters too: they are shown visibly, not changed."""
    assert check_text(text) == text


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udfff"])
def test_what_a_column_cannot_hold_is_refused(text: str):
    """One database would refuse it, the other keep it: neither is asked."""
    with pytest.raises(ValueError, match=r"NUL|surrogate"):
        check_text(text)


@pytest.mark.parametrize(
    ("kind", "least", "most"), [(Name, 0, 400), (Id, 1, 400), (Comment, 0, 4000)]
)
def test_lengths_have_limits(kind: Any, least: int, most: int):
    """Every limit holds at its edge."""
    adapter: TypeAdapter[str] = TypeAdapter(kind)
    for length in (least, most):
        assert len(adapter.validate_python("x" * length)) == length
    wrong = [most + 1] + ([least - 1] if least else [])
    for length in wrong:
        with pytest.raises(ValidationError):
            adapter.validate_python("x" * length)
