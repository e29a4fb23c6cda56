"""The messages of a request: whoever changes them is noticed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from amplifier_core.message_models import ChatRequest, Message
from amplifier_hooks.agent.loops.sent_messages import SentMessages

ONE, TWO = Message(role="user", content="1"), Message(role="assistant", content="2")


def add(messages: Any) -> None:
    messages += [ONE]


def double(messages: Any) -> None:
    messages *= 2


def replace(messages: Any) -> None:
    messages[0] = TWO


def cut(messages: Any) -> None:
    del messages[0]


CHANGES: list[Callable[[Any], Any]] = [
    add,
    double,
    replace,
    cut,
    lambda messages: messages.append(ONE),
    lambda messages: messages.clear(),
    lambda messages: messages.extend([ONE]),
    lambda messages: messages.insert(0, ONE),
    lambda messages: messages.pop(),
    lambda messages: messages.remove(ONE),
    lambda messages: messages.reverse(),
    lambda messages: messages.sort(key=lambda one: one.role),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed_and_happens(change: Callable[[Any], Any]) -> None:
    """A provider may do with its request what it likes."""
    messages, plain = SentMessages([ONE, TWO]), [ONE, TWO]
    assert not messages.changed
    change(messages)
    change(plain)
    assert messages.changed
    assert messages == plain


def test_every_way_of_changing_a_list_is_known() -> None:
    """A new Python may have one more."""
    harmless = {"copy", "count", "index", "__init__"}
    verbs = {name for name in vars(list) if not name.startswith("_")} - harmless
    in_place = {name for name in vars(list) if name.startswith("__i") and name != "__iter__"}
    items = {"__setitem__", "__delitem__"}
    assert verbs | (in_place - harmless) | items <= set(vars(SentMessages))


def test_growing_is_no_change() -> None:
    """The loop's own next request goes on with it."""
    messages = SentMessages([ONE])
    list.extend(messages, [TWO])
    assert (messages.changed, list(messages)) == (False, [ONE, TWO])


def test_a_copy_is_a_plain_list() -> None:
    """Of a request too, however it is copied."""
    messages = SentMessages([ONE])
    for made in (
        copy.copy(messages),
        copy.deepcopy(messages),
        pickle.loads(pickle.dumps(messages)),
    ):
        assert type(made) is list
        assert made == [ONE]
    request = ChatRequest(messages=[ONE])
    request.messages = messages
    assert type(request.model_copy(deep=True).messages) is list
    assert request.model_dump()["messages"] == ChatRequest(messages=[ONE]).model_dump()["messages"]
    assert '"content":"1"' in request.model_dump_json()
