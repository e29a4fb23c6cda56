"""What a span and the metrics say about a reply."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.otel.genai_names import Attribute
from amplifier_hooks.guards.otel.reply import count_tokens, describe_reply, is_number


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (0.5, True), (True, False), ("1", False), (None, False)],
)
def test_numbers_are_numbers_and_nothing_else(value: Any, expected: bool) -> None:
    assert is_number(value) is expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 5, "output_tokens": 7}, {"input": 5, "output": 7}),
        ({"input_tokens": 0}, {"input": 0}),
        ({"input_tokens": -3}, {"input": 0}),
        ({"input_tokens": "5"}, {}),
        ({"output_tokens": True}, {}),
        (None, {}),
        ([], {}),
    ],
)
def test_tokens_are_counted_where_a_provider_reports_them(
    usage: Any, expected: dict[str, int]
) -> None:
    assert count_tokens(usage) == expected


def test_a_full_reply_is_described_in_full() -> None:
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_tokens": 3,
        "cache_write_tokens": 4,
    }
    assert describe_reply({"model": "m", "finish_reason": "stop"}, usage) == {
        Attribute.INPUT_TOKENS: 1,
        Attribute.OUTPUT_TOKENS: 2,
        Attribute.CACHE_READ_TOKENS: 3,
        Attribute.CACHE_CREATION_TOKENS: 4,
        Attribute.RESPONSE_MODEL: "m",
        Attribute.FINISH_REASONS: ["stop"],
    }


ODD = st.none() | st.booleans() | st.integers(-9, 10**9) | st.text() | st.lists(st.integers())


@given(
    st.dictionaries(st.sampled_from(["model", "finish_reason"]), ODD),
    ODD | st.dictionaries(st.sampled_from(["input_tokens", "cache_read_tokens"]), ODD),
)
def test_any_reply_is_described_in_values_that_can_be_exported(
    response: dict[str, Any], usage: Any
) -> None:
    """Texts on one line, counts that are not negative, lists of texts."""
    for value in describe_reply(response, usage).values():
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            assert isinstance(text, int | str)
            assert not isinstance(text, str) or (len(text) <= 100 and "\n" not in text)
            assert not isinstance(text, int) or text >= 0
