"""Secrets that are split over the pieces of a stream."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.policy.secrets.stream import LATE, MOST_HELD, build_holds
from tests.hooks.guards.policy.secrets.secrets_made import (
    REDACTOR,
    SECRETS,
    build_pem,
    list_frames,
)

PLAIN = "The quick brown fox is singing; its password is required, and a token gone; a - b = c. "


def feed_all(pieces: list[str], redactor: Redactor = REDACTOR) -> str:
    stream = redactor.open_stream()
    return "".join([*(stream.feed(piece) for piece in pieces), stream.flush()])


def split(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.parametrize("name", sorted(set(SHAPES) - LATE))
@settings(max_examples=3)
@given(data=st.data())
def test_a_secret_is_hidden_however_its_pieces_fall(name: str, data: Any) -> None:
    """The pieces together read exactly as the whole text does when it is redacted."""
    secret = data.draw(SECRETS[name])
    frame = data.draw(st.sampled_from(list_frames(name)))
    text = f"Well,\n{frame.replace('{}', secret)}\nthat is it."
    size = data.draw(st.sampled_from([1, 3, 7, 20]))
    shown = feed_all(split(text, size))
    assert secret not in shown
    assert shown == REDACTOR.redact_text(text)


@pytest.mark.parametrize("size", [1, 3, 7, 20])
@pytest.mark.parametrize("rest", range(8))
def test_the_last_line_of_a_key_is_hidden_however_short(rest: int, size: int) -> None:
    """Its few letters are told to be the key's only by the line that ends it."""
    text = f"Well,\n{build_pem('A1b2' * 64 + 'XyZw9kQ'[:rest])}\nthat is it."
    shown = feed_all(split(text, size))
    assert shown == REDACTOR.redact_text(text) == "Well,\n[REDACTED:private-key]\nthat is it."


@pytest.mark.parametrize("separator_first", [True, False])
def test_ordinary_words_are_passed_on_at_once(separator_first: bool) -> None:
    """A piece is shown when it comes; at most the few letters wait that could begin a token."""
    stream, held = REDACTOR.open_stream(), 0
    words = PLAIN.split(" ")
    for word in words:
        piece = f" {word}" if separator_first else f"{word} "
        held += len(piece) - len(stream.feed(piece))
        assert held <= 3
    assert stream.flush() == "" or held


def test_at_the_end_what_was_held_comes_out() -> None:
    """A beginning that became nothing is shown; one that had become a secret is not."""
    stream = REDACTOR.open_stream()
    assert stream.feed("see ghp_abc") == "see "
    assert stream.flush() == "ghp_abc"
    assert stream.feed("x password=hunt") == "x password="
    assert stream.feed("er22") == ""
    assert stream.flush() == "[REDACTED:key-value]"


def test_a_secret_without_end_is_held_in_bounds() -> None:
    """Memory does not grow with it, and none of it is ever shown."""
    stream = REDACTOR.open_stream()
    body = "MIIEpAIBAAKCAQEA" * 4 + "\n"
    out = stream.feed("key:\n-----BEGIN RSA PRIVATE KEY-----\n")
    for _ in range(MOST_HELD // len(body) * 2):
        out += stream.feed(body)
        assert len(stream._text) <= MOST_HELD + len(body) + 600
    out += stream.feed("-----END RSA PRIVATE KEY-----\nbye") + stream.flush()
    assert out == "key:\n[REDACTED:private-key]\nbye"


def test_what_only_might_become_a_secret_is_let_go_in_the_end() -> None:
    """A text cannot keep the screen empty by never deciding."""
    text = "http://a:" + "b" * MOST_HELD * 2
    stream = REDACTOR.open_stream()
    shown = "".join(stream.feed(piece) for piece in split(text, 1000))
    assert len(shown) > MOST_HELD // 2
    assert shown + stream.flush() == text


def test_own_patterns_that_cannot_be_taken_apart_hold_the_last_word() -> None:
    """What only the engine understands is still not split."""
    own = Redactor({"greek": r"\p{Greek}{3,}-\d+"}, "test", "[{name}]")
    assert feed_all(["so αβ", "γ-1", "2 and"], own) == "so [greek] and"


def test_what_to_hold_is_worked_out_once_for_the_same_patterns() -> None:
    """Sessions share it; one with patterns of its own has its own."""
    assert build_holds(SHAPES, "tests") is build_holds(dict(SHAPES), "tests")
    assert build_holds({**SHAPES, "own": "own-[0-9]+"}, "tests") is not build_holds(SHAPES, "tests")


def test_the_time_grows_with_the_text_and_not_faster() -> None:
    """Twice the pieces take about twice the time, also where something is always held."""

    def measure(count: int) -> float:
        pieces = [f"password = a{number}b " for number in range(count)]
        start = time.process_time()
        feed_all(pieces)
        return time.process_time() - start

    measure(10)
    assert measure(240) < 30 * max(measure(30), 0.005)
