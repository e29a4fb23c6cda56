"""Long values and secrets, kept out of logs."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import utils
from amplifier_core.utils.truncate import SENSITIVE_KEYS, redact_secrets, truncate_values

nested = st.recursive(
    st.none() | st.integers() | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.sampled_from(["a", "Password", "token", "total_tokens"]), inner)
    ),
    max_leaves=10,
)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def circle() -> dict[str, Any]:
    value: dict[str, Any] = {"password": "hunter2"}
    value["self"] = value
    return value


def deep() -> Any:
    value: Any = {"password": "hunter2"}
    for _ in range(5_000):
        value = [value]
    return value


def test_the_package_hands_out_the_same_functions() -> None:
    """Modules import them from either place."""
    assert utils.redact_secrets is redact_secrets
    assert utils.truncate_values is truncate_values
    assert utils.SENSITIVE_KEYS is SENSITIVE_KEYS
    assert isinstance(SENSITIVE_KEYS, frozenset)


def test_a_long_text_says_how_much_of_it_is_missing() -> None:
    """One character over the limit is one too many."""
    given_value = {"short": "x" * 180, "rows": [("y" * 200, 5)]}
    assert truncate_values(given_value) == {
        "short": "x" * 180,
        "rows": [("y" * 180 + "... (truncated 20 chars)", 5)],
    }
    assert truncate_values("abcdef", max_length=2) == "ab... (truncated 4 chars)"
    assert given_value["rows"] == [("y" * 200, 5)]


@given(value=nested, limit=st.integers(1, 200))
def test_nothing_longer_is_left_and_the_rest_is_the_same(value: Any, limit: int) -> None:
    """Only texts over the limit change."""
    for before, after in zip(leaves(value), leaves(truncate_values(value, limit)), strict=True):
        if isinstance(before, str) and len(before) > limit:
            assert after.startswith(before[:limit] + "... (truncated ")
        else:
            assert after == before


def test_values_of_sensitive_keys_are_masked_in_any_case() -> None:
    """Masked with all that is below; names that only look alike are not."""
    given_value = MappingProxyType(
        {
            "API_KEY": "k",
            "Authorization": {"scheme": "bearer"},
            "total_tokens": 5,
            "password": "",
            "in": [{"client_secret": "s", "path": "/x"}],
            5: "five",
        }
    )
    assert redact_secrets(given_value) == {
        "API_KEY": "[REDACTED]",
        "Authorization": "[REDACTED]",
        "total_tokens": 5,
        "password": "[REDACTED]",
        "in": [{"client_secret": "[REDACTED]", "path": "/x"}],
        5: "five",
    }
    assert given_value["in"][0]["client_secret"] == "s"  # type: ignore[index]


def test_the_caller_may_name_other_keys() -> None:
    """Then only those are masked."""
    masked = redact_secrets({"PIN": 1234, "password": "x"}, {"Pin"})
    assert masked == {"PIN": "[REDACTED]", "password": "x"}


@given(nested)
def test_no_secret_survives(value: Any) -> None:
    """Wherever it is nested."""

    def check(part: Any) -> None:
        if isinstance(part, dict):
            for key, below in part.items():
                assert below == "[REDACTED]" or key.lower() not in SENSITIVE_KEYS
                check(below)
        elif isinstance(part, list | tuple):
            for below in part:
                check(below)

    check(redact_secrets(value))


@pytest.mark.parametrize("value", [circle(), deep()], ids=["circle", "deep"])
def test_what_cannot_be_searched_to_its_end_is_not_shown(value: Any) -> None:
    """A secret may hide at any depth."""
    assert redact_secrets(value) == truncate_values(value) == "[nested too deep]"
