"""Scripts: what may be written, and which reply comes next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.providers.script import (
    Failure,
    Playback,
    Reply,
    ScriptedCall,
    read_script,
    replies_of,
    split_words,
)


def play(playback: Playback, count: int) -> list[str]:
    """What happens next, `count` times."""
    taken = (playback.take() for _ in range(count))
    return [
        "end" if one is None else one.type if isinstance(one, Failure) else one.text
        for one in taken
    ]


@given(st.text())
def test_words_are_the_text(text: str) -> None:
    """Each piece is a word with the space before it; no character is lost."""
    pieces = split_words(text)
    assert "".join(pieces) == text
    assert all(len(piece.split()) <= 1 for piece in pieces)


def test_replies_come_in_order_and_then_none() -> None:
    """`close` and `raise` are told apart by whoever plays; the script itself is over."""
    playback = Playback(replies_of([{"text": "one"}, {"text": "two"}]))
    assert play(playback, 4) == ["one", "two", "end", "end"]


def test_a_script_that_repeats_counts_its_rounds() -> None:
    """`lap` tells the rounds apart; an empty script does not repeat."""
    playback = Playback(replies_of([{"text": "one"}]), "repeat")
    assert play(playback, 3) == ["one"] * 3
    assert playback.lap == 2
    assert play(Playback([], "repeat"), 2) == ["end", "end"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"error": "overloaded"}, ["overloaded", "next"]),
        ({"error": {"type": "overloaded", "times": 2}}, ["overloaded", "overloaded", "next"]),
        ({"error": "overloaded", "text": "late"}, ["overloaded", "late", "next"]),
        (
            {"error": {"type": "overloaded", "times": 2}, "text": "late"},
            ["overloaded", "overloaded", "late", "next"],
        ),
    ],
)
def test_an_error_comes_before_its_reply(line: dict[str, Any], expected: list[str]) -> None:
    """An error alone takes up no reply; with a reply the retry gets it."""
    playback = Playback(replies_of([line, {"text": "next"}]))
    assert play(playback, len(expected)) == expected


def test_an_expectation_is_a_part_of_what_was_said() -> None:
    """What was said instead is shown, shortened."""
    playback = Playback([Reply(expect="ready")])
    assert playback.find_surprise("Are you ready?") is None
    surprise = playback.find_surprise("x" * 500) or ""
    assert "Reply 1 of the script expects 'ready'" in surprise
    assert len(surprise) < 300
    playback.take()
    assert playback.find_surprise("anything") is None


def test_arguments_are_written_as_the_model_would() -> None:
    """Given text is sent as it is, also if it is not JSON."""
    assert ScriptedCall(name="A", input={"ü": 1}).written_arguments == '{"ü": 1}'
    assert ScriptedCall(name="A", arguments="{broken").written_arguments == "{broken"


def test_an_error_has_a_sentence() -> None:
    """Its own, or one that names the kind."""
    assert Failure(type="rate_limit").sentence == "The script says rate limit."
    assert Failure(type="rate_limit", message="slow down").sentence == "slow down"


@pytest.mark.parametrize("content", ["- text: hi\n", "script:\n  - text: hi\n"])
def test_a_file_is_a_list_or_a_mapping(tmp_path: Path, content: str) -> None:
    """Both forms mean the same."""
    path = tmp_path / "talk.yaml"
    path.write_text(content)
    assert [reply.text for reply in read_script(path)] == ["hi"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"- txet: x", "did you mean 'text'"),
        (b"- text: [", "cannot be read"),
        (b"- text: 2026-13-45", "cannot be read: month"),
        (b"- text: \xff", "cannot be read"),
        (b"just words", "script bad.yaml"),
        (b"- error: explosion", "explosion"),
        (b"- {delay: -1}", "delay"),
        (b"- {error: {type: timeout, times: 0}}", "times"),
        (b"", "script bad.yaml"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    """It names the file or the key, and has no second line."""
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(ModuleLoadError) as refusal:
        read_script(path)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_script_of_python_names_its_owner() -> None:
    """Replies and mappings may be mixed; mistakes say whose script it is."""
    assert len(replies_of([Reply(text="a"), {"text": "b"}])) == 2
    with pytest.raises(ModuleLoadError, match=r"my test: .*tool_call'"):
        replies_of([{"tool_call": []}], "my test")


def test_a_script_counts_only_what_it_wants_to() -> None:
    """What is missing follows from the rest; what is wrong is named."""
    (reply,) = replies_of([{"usage": {"input_tokens": 9, "output_tokens": 3}}])
    assert reply.usage is not None
    assert reply.usage.total_tokens == 12
    with pytest.raises(ModuleLoadError, match="usage"):
        replies_of([{"usage": {"input_tokens": "many"}}])
