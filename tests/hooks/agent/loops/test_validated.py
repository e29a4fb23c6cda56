"""Validated messages: what stayed is known, and what somebody has changed is noticed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.message_models import Message
from amplifier_hooks.agent.loops.model_call import ValidatedMessages


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def texts(found: list[Message]) -> list[str]:
    return [one.text for one in found]


def test_a_message_that_stayed_as_it_was_is_not_validated_again() -> None:
    """Only the new ones are."""
    validated, messages = ValidatedMessages(), [say("a"), say("b")]
    first = validated.update(messages)
    messages.append(say("c"))
    second = validated.update(messages)
    assert texts(second) == ["a", "b", "c"]
    assert second[0] is first[0]
    assert second[1] is first[1]


def test_a_change_in_place_is_sent() -> None:
    """A message that somebody changed where it stands is not sent in its old form."""
    validated, messages = ValidatedMessages(), [say("secret"), say("b")]
    kept = validated.update(messages)[1]
    for text in ("[redacted]", "[gone]"):
        messages[0]["content"] = text
        found = validated.update(messages)
        assert texts(found) == [text, "b"]
        assert found[1] is kept


def test_a_change_inside_a_block_is_sent() -> None:
    """However deep it is."""
    validated, block = ValidatedMessages(), {"type": "text", "text": "secret"}
    messages = [{"role": "user", "content": [block]}, say("b")]
    validated.update(messages)
    block["text"] = "[redacted]"
    assert texts(validated.update(messages)) == ["[redacted]", "b"]


def test_what_moved_is_known_where_it_is_now() -> None:
    """A context that drops the oldest messages does not have the others validated again."""
    validated, messages = ValidatedMessages(), [say("a"), say("b"), say("c")]
    _, b, c = validated.update(messages)
    found = validated.update([say("note"), *messages[1:]])
    assert texts(found) == ["note", "b", "c"]
    assert found[1] is b
    assert found[2] is c


def test_what_cannot_be_compared_is_validated_each_time() -> None:
    """A subclass of dict may say that it is equal to anything."""

    class Odd(dict[str, Any]):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    validated, odd = ValidatedMessages(), Odd(value=1)
    messages = [say("a", odd=odd), say("b")]
    b = validated.update(messages)[1]
    messages[0]["content"] = "changed"
    found = validated.update(messages)
    assert texts(found) == ["changed", "b"]
    assert found[1] is b


def test_a_message_that_is_refused_leaves_what_was_known() -> None:
    """The next conversation is read as if that one had never been."""
    validated, messages = ValidatedMessages(), [say("a")]
    (first,) = validated.update(messages)
    messages.append({"role": "user", "content": 7})
    with pytest.raises(ValidationError):
        validated.update(messages)
    messages[1] = say("b")
    found = validated.update(messages)
    assert texts(found) == ["a", "b"]
    assert found[0] is first


def test_a_reply_without_content_is_sent_as_an_empty_one() -> None:
    """Some contexts keep a reply that only calls tools so; one that is really wrong is refused."""
    validated = ValidatedMessages()
    found = validated.update([say("a"), {"role": "assistant", "content": None}, say("b")])
    assert texts(found) == ["a", "", "b"]
    with pytest.raises(ValidationError, match="role"):
        validated.update([say("a"), {"role": "nobody", "content": None}])
