"""What leaves the server."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.mcp.server.bounds import Bounds
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.policy.masking import build_presenter
from amplifier_hooks.mcp.server.presenting import MOST_BYTES, clean_text, write_text
from tests.hooks.mcp.server.world import HOSTILE, KEYED, SECRET

PRESENTER = build_presenter(None)


def test_no_hidden_character_leaves() -> None:
    """Controls, directions, tags, and selectors in a row; signs that people see stay."""
    assert clean_text("a\x1b[31mb\u202ec\U000e0041d\ufe01\ufe02e\U000e0101f") == "a[31mbcdef"
    assert clean_text("line\n\ttab, né, 日本, ❤️, 👩‍💻") == "line\n\ttab, né, 日本, ❤️, 👩‍💻"


def test_secrets_are_masked_by_their_shape_and_by_their_key() -> None:
    """Also where hidden characters would keep them from being found."""
    shown = PRESENTER.present(
        {"a": [f"x {SECRET} y"], "password": KEYED, "b": f"{SECRET[:9]}\u200b{SECRET[9:]}"}
    )
    assert SECRET not in json.dumps(shown)
    assert KEYED not in json.dumps(shown)
    assert SECRET[9:] not in json.dumps(shown)
    assert PRESENTER.present_text(f"no file {SECRET}") == "no file [REDACTED:github-token]"


def test_a_value_is_masked_before_it_is_cut() -> None:
    """Half a secret is one as well, and has another shape."""
    shown = PRESENTER.shorten(f"token: {SECRET}", Bounds(text=20, members=1, depth=1))
    assert SECRET[:10] not in shown


def test_an_answer_that_is_too_large_is_refused() -> None:
    """With what to do about it."""
    with pytest.raises(Refused, match="smaller limit"):
        PRESENTER.present({"text": "a b " * (MOST_BYTES // 3)})


def test_the_text_has_a_line_for_each_value_that_says_something() -> None:
    """Nested ones indented; nothing for what is empty, but in what would run."""
    value = {
        "answer": "deny",
        "none": None,
        "hooks": [{"name": "a", "ids": [1, 2]}, "b", {}, {"c": ""}],
        "input": {"content": "", "args": []},
        "zero": 0,
    }
    assert write_text(value).splitlines() == [
        'answer: "deny"',
        "hooks:",
        '  - name: "a"',
        "    ids:",
        "      - 1",
        "      - 2",
        '  - "b"',
        "  - {}",
        "  - {}",
        "input:",
        '  content: ""',
        "  args: []",
        "zero: 0",
    ]


@settings(max_examples=40)
@given(st.text() | st.just(HOSTILE), st.text())
def test_no_text_of_others_can_begin_a_line(text: str, key: str) -> None:
    """Whatever they wrote stays in quotes on its line."""
    lines = write_text({"reason": clean_text(text), "input": {clean_text(key): ["x"]}}).split("\n")
    assert len(lines) == (4 if clean_text(text) else 3)
    assert all(
        line.lstrip().startswith(('reason: "', "input:", '"', '- "')) or line.endswith(":")
        for line in lines
    )
