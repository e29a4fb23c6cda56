"""The size of an answer."""

from __future__ import annotations

import json

from amplifier_hooks.mcp.server.bounds import Bounds, cut, cut_text

SMALL = Bounds(text=5, members=2, depth=2)


def test_what_is_cut_says_how_much_is_missing() -> None:
    """Texts, lists, objects and what lies too deep."""
    assert cut_text("abcdefgh", 5) == "abcde… (3 more characters)"
    assert cut([1, 2, 3, 4], SMALL) == [1, 2, "… (2 more)"]
    assert cut({"a": 1, "b": 2, "c": 3}, SMALL) == {"a": 1, "b": 2, "…": "1 more members"}
    deep = {"a": {"b": {"c": 1}, "d": [1, 2, 3]}}
    assert cut(deep, SMALL) == {"a": {"b": "… (an object with 1 members)", "d": "… (a list of 3)"}}


def test_what_fits_stays_as_it_is() -> None:
    """Empty things also where nothing else is let through."""
    value = {"a": [{}, []], "b": "short"}
    assert cut(value, SMALL) == value


def test_whatever_is_cut_is_small() -> None:
    """Two members each, two levels deep, five characters and a remark."""
    value: object = "word " * 1000
    for _ in range(3):
        value = [value] * 50
        value = {f"{'key' * 500}{number}": value for number in range(20)}
    assert len(json.dumps(cut(value, SMALL))) < 4_000
