"""When two tool calls are the same."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.progress_monitor.calls import compute_fingerprint

json_values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)

inputs = st.dictionaries(st.text(), json_values, max_size=3)


@given(inputs, inputs)
def test_calls_are_the_same_when_their_inputs_are(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Same call with same input, whatever the order of its keys."""
    shuffled = dict(reversed(list(copy.deepcopy(one).items())))
    assert compute_fingerprint(one) == compute_fingerprint(shuffled)
    assert (compute_fingerprint(one) == compute_fingerprint(other)) == (one == other)


def test_inputs_that_cannot_be_hashed_are_told_apart_too() -> None:
    """Odd inputs are inputs."""
    loop: list[Any] = []
    loop.append(loop)
    assert (
        compute_fingerprint({"a": {1, 2}})
        == compute_fingerprint({"a": {1, 2}})
        != compute_fingerprint({"a": {1, 3}})
    )
    assert compute_fingerprint(loop) == compute_fingerprint(loop)
