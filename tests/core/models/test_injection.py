"""One hook's text on its way into the conversation."""

from __future__ import annotations

import pytest

from amplifier_core.injection import Injection


@pytest.mark.parametrize(("text", "size"), [("", 0), ("abc", 3), ("é", 2), ("\ud800", 3)])
def test_its_size_is_counted_in_bytes(text: str, size: int) -> None:
    """Of UTF-8, half of a surrogate pair included."""
    assert Injection("linter", "tool:post", text).size == size


def test_unless_it_says_otherwise_it_is_a_lasting_message_of_the_system() -> None:
    """As the specification's defaults say."""
    one = Injection("linter", "tool:post", "text")
    assert (one.role, one.ephemeral, one.append_to_last_tool_result) == ("system", False, False)
