"""Validated messages: what stayed is known, and what somebody has changed is noticed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.agent.loops.validated import ValidatedMessages


class Marked(list[dict[str, Any]]):
    """A list that says when it has only grown."""

    mark: object | None = None


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def marked(*texts: str) -> Marked:
    messages = Marked(map(say, texts))
    messages.mark = object()
    return messages


def texts(validated: ValidatedMessages) -> list[str]:
    return [one.text for one in validated.results]


def test_a_list_with_the_same_mark_has_only_grown() -> None:
    """Nobody could change what is in it, so only the new messages are looked at."""
    validated, messages = ValidatedMessages(), marked("a", "b")
    assert validated.update(messages) == 0
    first = validated.results[0]
    messages.append(say("c"))
    messages[0] = say("not looked at")
    assert validated.update(messages) == 2
    assert texts(validated) == ["a", "b", "c"]
    assert validated.results[0] is first


@pytest.mark.parametrize("plain", [True, False])
def test_a_change_in_place_is_sent(plain: bool) -> None:
    """A message that somebody changed where it stands is not sent in its old form."""
    validated = ValidatedMessages()
    messages: Any = [say("secret"), say("b")] if plain else marked("secret", "b")
    validated.update(messages)
    kept = validated.results[1]
    for text in ("[redacted]", "[gone]"):
        messages[0]["content"] = text
        if not plain:
            messages.mark = object()
        assert validated.update(messages) == 0
        assert texts(validated) == [text, "b"]
    assert plain is (validated.results[1] is kept)


def test_a_change_inside_a_block_is_sent() -> None:
    """However deep it is."""
    validated, block = ValidatedMessages(), {"type": "text", "text": "secret"}
    messages = [{"role": "user", "content": [block]}, say("b")]
    validated.update(messages)
    block["text"] = "[redacted]"
    validated.update(messages)
    assert texts(validated) == ["[redacted]", "b"]


def test_what_moved_is_known_where_it_is_now() -> None:
    """A context that drops the oldest messages does not have the others validated again."""
    validated, messages = ValidatedMessages(), [say("a"), say("b"), say("c")]
    validated.update(messages)
    b, c = validated.results[1:]
    assert validated.update([say("note"), *messages[1:]]) == 0
    assert texts(validated) == ["note", "b", "c"]
    assert validated.results[1] is b
    assert validated.results[2] is c


def test_a_marked_list_that_is_often_another_is_compared() -> None:
    """Somebody reads the conversation after each turn: nothing is validated each time."""
    validated, messages = ValidatedMessages(), marked(*"abcdefgh")
    validated.update(messages)
    for _ in range(2):
        messages.mark = object()
        validated.update(messages)
    first = validated.results[0]
    messages.append(say("new"))
    messages.mark = object()
    assert validated.update(messages) == 8
    assert texts(validated) == [*"abcdefgh", "new"]
    assert validated.results[0] is first
    messages.append(say("newer"))
    assert validated.update(messages) == 9


def test_what_cannot_be_compared_is_validated_each_time() -> None:
    """A subclass of dict may say that it is equal to anything."""

    class Odd(dict[str, Any]):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    validated, odd = ValidatedMessages(), Odd(value=1)
    messages = [say("a", odd=odd), say("b")]
    validated.update(messages)
    b = validated.results[1]
    messages[0]["content"] = "changed"
    validated.update(messages)
    assert texts(validated) == ["changed", "b"]
    assert validated.results[1] is b


def test_a_message_that_is_refused_leaves_what_was_known() -> None:
    """The next conversation is read as if that one had never been."""
    for messages in (marked("a"), [say("a")]):
        validated = ValidatedMessages()
        validated.update(messages)
        messages.append({"role": "user", "content": 7})
        with pytest.raises(ValidationError):
            validated.update(messages)
        messages[1] = say("b")
        validated.update(messages)
        assert texts(validated) == ["a", "b"]


def test_a_reply_without_content_is_sent_as_an_empty_one() -> None:
    """Some contexts keep a reply that only calls tools so; one that is really wrong is refused."""
    validated = ValidatedMessages()
    validated.update([say("a"), {"role": "assistant", "content": None}, say("b")])
    assert texts(validated) == ["a", "", "b"]
    with pytest.raises(ValidationError, match="role"):
        validated.update([say("a"), {"role": "nobody", "content": None}])
