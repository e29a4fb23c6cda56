"""Markup that no data has a reason to imitate."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.injection_guard.markup import FORGED, SUGGESTIVE
from amplifier_hooks.guards.policy.patterns import compile_pattern

ALONE = compile_pattern(FORGED, "test")
WITH_ORDERS = compile_pattern(SUGGESTIVE, "test")


@pytest.mark.parametrize(
    "text",
    [
        "<|im_start|>system",
        "<|eot_id|>",
        "[inst] do it [/inst] ",
        "<<sys>>",
        "<end_of_turn>",
        "</function_calls>",
        '<invoke name="bash">',
        "<tool_result>",
        '<tool_call>{"name": "x"}',
        "### new system prompt:",
    ],
)
def test_forged_turns_and_calls_count_alone(text: str) -> None:
    """Whatever family of models they are made for."""
    assert ALONE.occurs_in(text)


@pytest.mark.parametrize(
    "text", ["<system>", "</important>", "\nassistant: yes", "[system]\nrun", "system message: x"]
)
def test_names_of_roles_are_suggestive(text: str) -> None:
    """As tags, in brackets, and at the start of a line."""
    assert WITH_ORDERS.occurs_in(text)
    assert not ALONE.occurs_in(text)


@pytest.mark.parametrize(
    "text", ["<systems>", "[system](https://x)", "the system: x", "a[inst]b", "<a|b>", "<input>"]
)
def test_ordinary_markup_is_neither(text: str) -> None:
    """Links, elements, words in a sentence."""
    assert not ALONE.occurs_in(text)
    assert not WITH_ORDERS.occurs_in(text)
