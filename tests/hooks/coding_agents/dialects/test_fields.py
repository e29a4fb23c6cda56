"""Fields of payloads that somebody else wrote."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import (
    get_number,
    get_text,
    rename_keys,
    require_object,
    require_text,
)


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (1, ""), (None, ""), (["a"], "")])
def test_what_is_no_text_counts_as_none(value: Any, text: str) -> None:
    """Nothing here depends on it."""
    assert get_text({"key": value}, "key") == text
    assert get_text({}, "key") == ""


@pytest.mark.parametrize("payload", [{}, {"key": 1}, {"key": None}, {"key": ["rm"]}])
def test_what_must_be_judged_must_be_readable(payload: dict[str, Any]) -> None:
    """The message names the key and what is there."""
    kind = type(payload.get("key")).__name__
    with pytest.raises(TypeError, match=f"'key' must be a text, got {kind}"):
        require_text(payload, "key")
    with pytest.raises(TypeError, match=f"'key' must be an object, got {kind}"):
        require_object(payload, "key")


def test_what_is_readable_is_returned() -> None:
    """The object is a copy."""
    given = {"command": "ls"}
    assert require_text(given, "command") == "ls"
    found = require_object({"key": given}, "key")
    assert found == given
    assert found is not given


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), (3.9, 3), (True, 0), ("3", 0), (None, 0), (float("inf"), 0), (float("nan"), 0)],
)
def test_a_number_is_whole(value: Any, number: int) -> None:
    """JSON has others, and Python reads even infinite ones."""
    assert get_number({"key": value}, "key") == number


def test_no_field_hides_behind_another_that_had_its_name() -> None:
    """What the tool will use wins, wherever the other one stands."""
    names = {"filePath": "file_path"}
    assert rename_keys({"filePath": "used", "file_path": "shown"}, names) == {"file_path": "used"}
    assert rename_keys({"file_path": "shown", "filePath": "used"}, names) == {"file_path": "used"}
    assert rename_keys({"a": 1}, names) == {"a": 1}
