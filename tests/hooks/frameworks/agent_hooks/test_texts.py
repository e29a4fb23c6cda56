"""The text in a content, whatever its shape."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from amplifier_hooks.frameworks.agent_hooks.translation import read_text, replace_text

IMAGE = {"type": "image", "url": "x"}
BLOCKS = [IMAGE, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
MESSAGES = [
    {"role": "assistant", "content": [{"type": "function_call", "name": "Write"}]},
    {"role": "tool", "content": [{"type": "function_result", "result": "done"}]},
    {"role": "assistant", "content": "done"},
]


@pytest.mark.parametrize(
    ("content", "text", "changed"),
    [
        ("a", "a", "new"),
        (None, "", "new"),
        (BLOCKS, "ab", [IMAGE, {"type": "text", "text": "new"}]),
        (MESSAGES, "done", [*MESSAGES[:2], {"role": "assistant", "content": "new"}]),
        (
            [{"role": "user", "content": BLOCKS}],
            "ab",
            [{"role": "user", "content": [IMAGE, {"type": "text", "text": "new"}]}],
        ),
        ({"odd": 1}, '{"odd": 1}', "new"),
        ([1, 2], "[1, 2]", "new"),
        ([{"role": "user", "content": 7}], '[{"role": "user", "content": 7}]', "new"),
    ],
)
def test_it_is_read_and_replaced_in_place(content: Any, text: str, changed: Any) -> None:
    """Everything around it stays; what nobody changed stays the very same."""
    assert read_text(content) == text
    assert replace_text(content, "new") == changed
    assert replace_text(content, text) is content
