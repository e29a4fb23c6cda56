"""Secrets that are split over the pieces of a stream."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.patterns import compile_pattern
from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.policy.secrets.stream import (
    LATE,
    MARK,
    MOST_HELD,
    LiteralScrubber,
    Unreadable,
    build_holds,
    build_prefix,
)
from tests.hooks.guards.policy.secrets.secrets_made import (
    REDACTOR,
    SECRETS,
    build_pem,
    list_frames,
)


def begins(pattern: str, text: str) -> list[int]:
    return list(compile_pattern(build_prefix(pattern), "test").find_group_starts(text))


PRINTABLE = st.characters(min_codepoint=32, max_codepoint=126)
PATTERNS = [
    "-abc",
    "-a(?:b|cd)e",
    "-[0-9]{3}x",
    "-(?:ab){2,3}c",
    "-a*b+c?d",
    "-(?i:AB)c",
    r"-\d\s[^x]y",
    "-(?:a|bc*)+d",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=10)
@given(data=st.data())
def test_every_beginning_of_a_match_is_found(pattern: str, data: Any) -> None:
    """Wherever a match is cut, what is left may still become one."""
    match = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=PRINTABLE))
    for end in range(1, len(match) + 1):
        assert begins(pattern, " " + match[:end]) == [1]


@pytest.mark.parametrize("text", ["-b", "-ab ", "-abd", "abc", ""])
def test_what_cannot_become_a_match_is_not_found(text: str) -> None:
    """One letter that does not fit decides it."""
    assert begins("-abc", text) == []


def test_only_the_part_to_hide_is_held() -> None:
    """What stands before the named group is context: it may be shown at once."""
    pattern = "key=(?P<secret>[0-9]+);"
    assert begins(pattern, "a key") == []
    assert begins(pattern, "a key=12") == [6]
    assert begins(pattern, "a key=12;") == [6]
    assert begins(pattern, "a key=12; ") == []
    assert begins("k=(?:\"(?P<one>\\w+)|'(?P<two>\\w+))", "k='ab") == [3]


def test_a_token_begins_a_word() -> None:
    """The end of an ordinary word is not held because a token begins with its last letter."""
    assert begins("ghp_[a-z]{9}", "running") == []
    assert begins("ghp_[a-z]{9}", "run g") == [4]


@pytest.mark.parametrize("pattern", [r"\pL+", "(?P<a>x)*", "("])
def test_what_cannot_be_taken_apart_is_said(pattern: str) -> None:
    """The caller then holds back more, not less."""
    with pytest.raises(Unreadable):
        build_prefix(pattern)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_shape_has_its_beginnings(name: str) -> None:
    """None of ours falls back to holding whole words."""
    compile_pattern(build_prefix(SHAPES[name]), "test")


SCRUB = LiteralScrubber({"abcabd", "abc-longer-value", ""})


def feed_literals(pieces: list[str]) -> str:
    stream = SCRUB.open_stream()
    return "".join([*(stream.feed(piece) for piece in pieces), stream.flush()])


def test_the_longest_value_is_replaced_first() -> None:
    """A value that begins like another is not left with its end in sight."""
    scrub = LiteralScrubber({"secret", "secret-and-more"})
    assert scrub("a secret-and-more b") == f"a {MARK} b"


@given(st.text("abcd-longervu "), st.text("abcd "), st.data())
def test_a_value_is_hidden_however_its_pieces_fall(before: str, behind: str, data: object) -> None:
    """The pieces together read as the whole text would."""
    text = f"{before}abcabd{behind}abc-longer-value"
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))  # type: ignore[attr-defined]
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert feed_literals(pieces) == SCRUB(text)


def test_ordinary_text_is_passed_on_at_once() -> None:
    """Only what may be the beginning of a value waits."""
    stream = SCRUB.open_stream()
    assert [stream.feed(piece) for piece in ("so ", "on", " ab", "c", "!")] == [
        "so ",
        "on",
        " ",
        "",
        "abc!",
    ]


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
