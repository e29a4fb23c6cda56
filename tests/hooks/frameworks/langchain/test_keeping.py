"""What hooks added for good, in the stored conversation."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph.message import add_messages

from amplifier_hooks.frameworks.langchain.messages import Kept, keep, store

SAID = [HumanMessage("a", id="1"), AIMessage("b", id="2")]
LINT = {"role": "user", "content": "Lint"}


def texts(update: Any) -> list[str]:
    """The conversation after an update."""
    after: Any = add_messages(list(SAID), update["messages"])
    return [one.content for one in after]


def test_nothing_is_written_when_nothing_was_added() -> None:
    """The update stays as it was."""
    update = {"messages": [AIMessage("c")]}
    assert store({"messages": SAID}, update, []) is update
    assert store({"messages": SAID}, None, []) is None


def test_a_message_is_stored_behind_the_one_that_it_stood_behind() -> None:
    """In the order of the request."""
    kept = keep(SAID[:1], [LINT, {"role": "user", "content": "Twice"}])
    assert texts(store({"messages": SAID}, None, kept)) == ["a", "Lint", "Twice", "b"]


def test_a_changed_answer_is_stored_with_it() -> None:
    """And the rest of the update."""
    update = {"messages": [AIMessage("B", id="2")], "structured_response": None}
    written = store({"messages": SAID}, update, keep(SAID[:1], [LINT]))
    assert written is not None
    assert texts(written) == ["a", "Lint", "B"]
    assert written["structured_response"] is None


def test_what_stood_behind_a_message_that_is_gone_comes_first() -> None:
    """As after a summary took the place of the beginning."""
    assert texts(store({"messages": SAID}, None, [Kept("9", LINT)])) == ["Lint", "a", "b"]
    assert keep([], [LINT]) == [Kept(None, LINT)]
