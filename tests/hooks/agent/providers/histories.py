"""Histories as hooks, cancellations and compactions leave them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from amplifier_core.message_models import Message, ToolCall


def say_as_user(text: str) -> Message:
    return Message(role="user", content=text)


def say_as_system(text: str) -> Message:
    return Message(role="system", content=text)


def call_tools(*ids: str, text: str = "") -> Message:
    calls = [ToolCall(id=call_id, name="Bash", arguments={"n": call_id}) for call_id in ids]
    return Message(role="assistant", content=text, tool_calls=calls)


def show_result(call_id: str, text: str = "ok", **fields: Any) -> Message:
    return Message(role="tool", tool_call_id=call_id, content=text, **fields)


IDS = st.sampled_from(["a", "b", "c"])
TEXTS = st.sampled_from(["", " ", "Hello", "</system-note>"])
HISTORIES = st.lists(
    st.one_of(
        st.builds(say_as_user, TEXTS),
        st.builds(say_as_system, TEXTS),
        st.builds(lambda ids, text: call_tools(*ids, text=text), st.sets(IDS, max_size=3), TEXTS),
        st.builds(show_result, IDS, TEXTS),
    ),
    max_size=12,
)
