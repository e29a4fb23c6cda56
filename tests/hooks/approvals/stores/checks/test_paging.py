"""Places in lists: what a page gives out, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.stores.checks import Position, read_limit, read_position


@given(st.floats(allow_nan=False, allow_infinity=False), st.text("abc/0-9"))
def test_a_place_is_read_as_it_was_written(at: float, id: str) -> None:
    """To the last bit of its time."""
    assert read_position(str(Position(at, id))) == Position(at, id)


def test_the_beginning_has_no_place() -> None:
    """An empty text is the first page."""
    assert read_position("") is None


@pytest.mark.parametrize("text", ["x", "1.0", "nan/a", "inf/a", "/a", "1.0/a\0", "1,0/a"])
def test_what_no_page_gave_out_is_refused(text: str) -> None:
    """With a message that says where to get one."""
    with pytest.raises(BadRequest, match="`next` of a page"):
        read_position(text)


@pytest.mark.parametrize("limit", [0, -1, 1001, True, 1.5, "5", None])
def test_a_page_has_a_size(limit: Any) -> None:
    """From one to a thousand."""
    with pytest.raises(BadRequest, match="1 to 1000"):
        read_limit(limit)
    assert read_limit(1000) == 1000
