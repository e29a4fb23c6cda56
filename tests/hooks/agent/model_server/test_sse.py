"""Server-sent events, and arguments in pieces."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.model_server.sse import format_event, split_arguments


@given(st.dictionaries(st.text(), st.text()))
def test_an_event_is_one_line_of_data(data: dict[str, str]) -> None:
    """Whatever the text holds, an event ends where it should and nowhere else."""
    frame = format_event(data, "name")
    head, line, *rest = frame.split(b"\n")
    assert (head, rest) == (b"event: name", [b"", b""])
    assert json.loads(line.removeprefix(b"data: ")) == data


def test_an_event_may_have_no_name_and_no_json() -> None:
    """Chat Completions ends its streams so."""
    assert format_event("[DONE]") == b"data: [DONE]\n\n"


@given(st.text(), st.integers(1, 20))
def test_no_character_of_the_arguments_is_lost(text: str, size: int) -> None:
    """The pieces are the text, and none is longer than asked for."""
    pieces = list(split_arguments(text, size))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= size for piece in pieces)
