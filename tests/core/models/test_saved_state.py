"""The state of a session, as another process gets it."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import SessionStateError
from amplifier_core.session import STATE_VERSION, read_state


def test_a_state_is_a_dict_of_ones_own() -> None:
    """What the session does to it, nobody else sees; without one there is nothing."""
    saved = {"version": STATE_VERSION, "messages": []}
    assert read_state(saved) == saved
    assert read_state(saved) is not saved
    assert read_state(None) == {}


@pytest.mark.parametrize("state", [{}, {"version": 99}])
def test_another_version_is_refused(state: dict[str, Any]) -> None:
    """It says which there is and which is understood."""
    with pytest.raises(SessionStateError, match=r"A saved state of version .*; this is 1"):
        read_state(state)
