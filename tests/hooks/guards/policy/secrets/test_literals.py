"""Known values are hidden wherever they stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.secrets.literals import MARK, LiteralScrubber

SCRUB = LiteralScrubber({"abcabd", "abc-longer-value", ""})


def feed_all(pieces: list[str]) -> str:
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
    assert feed_all(pieces) == SCRUB(text)


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
