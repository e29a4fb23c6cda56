"""What leaves the server: masked, cleaned, and within its size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks import load_bundle
from amplifier_hooks.mcp.server.presenter import (
    MOST_BYTES,
    Bounds,
    build_presenter,
    clean_text,
    cut,
    cut_text,
    write_text,
)
from amplifier_hooks.mcp.server.tool import Refused
from tests.hooks.mcp.server.world import HOSTILE, KEYED, SECRET, World

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


def test_what_a_bundle_masks_is_masked_here_and_what_it_switches_off_as_well(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own patterns, variables of the environment, and values that it refers to."""
    monkeypatch.setenv("SHOP_DSN", "db4-of-the-shop")
    monkeypatch.setenv("API_KEY_X", "k" * 12)
    config = {
        "patterns": {"order": "ORD-[0-9]{6}"},
        "environment": ["SHOP_*"],
        "off": ["github-token"],
    }
    world.save_bundle(
        hooks=[{"module": "hooks-redaction", "config": config}],
        providers=[{"module": "provider-scripted", "config": {"key": "${API_KEY_X}"}}],
    )
    presenter = build_presenter(load_bundle())
    shown = presenter.present_text(f"ORD-123456 db4-of-the-shop {'k' * 12} {SECRET}")
    assert shown == ("[REDACTED:order] [REDACTED:env-SHOP_DSN] [secret] [REDACTED:github-token]")


@pytest.mark.parametrize("config", [{"paterns": {}}, {"patterns": {"bad": "("}}])
def test_a_bundle_whose_options_are_wrong_masks_what_we_know_of(
    world: World, config: dict[str, object]
) -> None:
    """No session starts with it, but its trails may still be searched."""
    world.save_bundle(hooks=[{"module": "hooks-redaction", "config": config}])
    shown = build_presenter(load_bundle()).present_text(SECRET)
    assert shown == "[REDACTED:github-token]"
