"""Values as JSON."""

from __future__ import annotations

import json
import math
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.encoding import DEEPEST, TooDeep, to_json, to_kept_json
from amplifier_hooks.approvals.models import ApprovalRequest, SessionEntry
from tests.support.stores import make_request

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_every_input_is_kept_as_it_is(tool_input: dict[str, Any]) -> None:
    """As ASCII, also lone halves of pairs and NUL."""
    request = make_request(tool_input=tool_input)
    text = to_kept_json(request)
    assert text.isascii()
    assert "\0" not in text
    assert ApprovalRequest.model_validate(json.loads(text)) == request


def nest(levels: int) -> Any:
    """Something nested so deeply, with brackets in its strings."""
    value: Any = {']}\\"[{': "}"}
    for _ in range(levels - 1):
        value = [value]
    return value


def test_what_nobody_could_read_again_is_not_kept() -> None:
    """Encoders and parsers end somewhere; what is wide is no deeper for it."""
    assert json.loads(to_kept_json(nest(DEEPEST))) == nest(DEEPEST)
    assert to_kept_json([{"a": ["[" * 500]}] * 500)
    for levels in (DEEPEST + 1, 900, 100_000):
        with pytest.raises(TooDeep, match="more than 100 levels"):
            to_kept_json(nest(levels))


def test_what_is_only_sent_may_be_deeper() -> None:
    """As far as anybody can write it."""
    assert json.loads(to_json(nest(DEEPEST + 1))) == nest(DEEPEST + 1)
    with pytest.raises(TooDeep):
        to_json(nest(100_000))


def test_mappings_and_sets_become_plain() -> None:
    """Whatever kind they are."""
    value = {"m": MappingProxyType({"a": (1, 2)}), "s": frozenset({"b", "a"})}
    plain = {"m": {"a": [1, 2]}, "s": ["a", "b"]}
    assert json.loads(to_json(value)) == plain


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {"a": b"bytes"}, SessionEntry])
def test_what_is_no_json_is_refused(value: Any) -> None:
    """As one kind of error."""
    with pytest.raises(ValueError, match="JSON"):
        to_json(value)
