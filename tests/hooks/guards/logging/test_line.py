"""One event as one line, whatever it is made of."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.logging.line import encode_line, find_level


@pytest.mark.parametrize(
    ("event", "level"),
    [
        ("provider:error", "error"),
        ("error:provider", "error"),
        ("thinking:delta", "debug"),
        ("policy:violation", "warning"),
        ("tool:pre", "info"),
        ("my:event", "info"),
    ],
)
def test_events_have_sensible_levels(event: str, level: str) -> None:
    """Without configuration, errors are errors and pieces of text are debug."""
    assert find_level(event, {}) == level


class Hostile:
    """Raises whatever is done with it."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.just(5000).map(lambda digits: 10**digits)
    | st.builds(Hostile),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters()) | st.integers(), inner)
    ),
    max_leaves=20,
)


@given(json_like)
def test_any_data_becomes_one_readable_line(value: Any) -> None:
    """Never raising on odd data."""
    line = encode_line("my:event", "info", "s", {"value": value}, 65_536)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line, parse_int=str)["event"] == "my:event"


def test_cycles_depth_and_bytes_are_written_as_well_as_they_can_be() -> None:
    """Odd data keeps what can be kept."""
    cycle: dict[str, Any] = {"name": "kept", "half": "\ud800"}
    cycle["self"] = [cycle, cycle]
    deep: Any = "bottom"
    for _ in range(3000):
        deep = [deep]
    assert json.loads(encode_line("e", "info", "s", cycle, 65_536))["event"] == "e"
    assert json.loads(encode_line("e", "info", "s", {"deep": deep}, 65_536))["event"] == "e"
    data = json.loads(encode_line("e", "info", "s", {"raw": b"\xff"}, 65_536))["data"]
    assert base64.urlsafe_b64decode(data["raw"]) == b"\xff"


@given(st.text(st.characters(), min_size=1000, max_size=5000), st.integers(500, 5000))
def test_a_line_never_exceeds_its_limit(text: str, limit: int) -> None:
    """A huge event is cut, and says so."""
    line = encode_line("my:event", "info", "s", {"text": text}, limit)
    assert len(line) <= limit + 1
    read = json.loads(line)
    assert ("data" in read) != ("truncated_bytes" in read)
