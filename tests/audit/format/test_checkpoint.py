"""Checkpoints in the C2SP format, and their signatures."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.checkpoint import NOTE_LIMIT, make_note, parse_note, parse_notes
from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.keys import Ed25519Verifier
from tests.audit.support import OTHER, SIGNER, VERIFIER

ROOT = bytes(range(32))
B64 = base64.b64encode(ROOT).decode()


def test_the_text_is_origin_size_and_root() -> None:
    """An unsigned checkpoint is three lines."""
    note = make_note("ab", 7, ROOT)
    assert note.text == f"amplifier.audit/ab\n7\n{B64}\n"
    assert note.checkpoint.log == "ab"
    assert parse_note(note.text) == note


def test_a_signature_line_has_key_name_key_id_and_signature() -> None:
    """Anybody who knows signed notes can check it, over the three lines and their line breaks."""
    note = make_note("ab", 7, ROOT, SIGNER)
    body, line = note.text.split("\n\n")
    dash, name, blob = line.rstrip("\n").split(" ")
    raw = base64.b64decode(blob)
    assert (dash, name, raw[:4], len(raw)) == ("—", "amplifier-audit", SIGNER.key_id, 68)
    assert VERIFIER.verify(body.encode() + b"\n", raw[4:])
    assert parse_note(note.text) == note
    assert note.is_signed_by(VERIFIER)


def test_the_signature_of_another_key_or_on_another_text_does_not_count() -> None:
    """Neither a stranger's signature nor one that was moved to other numbers."""
    assert not make_note("ab", 7, ROOT, OTHER).is_signed_by(VERIFIER)
    assert not make_note("ab", 7, ROOT).is_signed_by(VERIFIER)
    moved = make_note("ab", 7, ROOT, SIGNER).text.replace("\n7\n", "\n8\n")
    assert not parse_note(moved).is_signed_by(VERIFIER)


def test_one_good_signature_among_several_is_enough() -> None:
    """A witness may add its own line before or after ours."""
    ours = make_note("ab", 7, ROOT, SIGNER).text
    theirs = make_note("ab", 7, ROOT, OTHER).text.split("\n\n")[1]
    for text in (ours + theirs, ours.replace("\n\n", "\n\n" + theirs)):
        note = parse_note(text)
        assert len(note.signatures) == 2
        assert note.is_signed_by(VERIFIER)
        assert note.is_signed_by(Ed25519Verifier.from_text(OTHER.public))


def test_a_signature_under_another_name_does_not_count() -> None:
    """Name and key id are part of what is compared."""
    text = make_note("ab", 7, ROOT, SIGNER).text.replace("— amplifier-audit ", "— somebody ")
    assert not parse_note(text).is_signed_by(VERIFIER)


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        "x",
        "a\n1\n",
        f"a\n1\n{B64}\nmore\n",
        f"a\n01\n{B64}\n",
        f"a\n-1\n{B64}\n",
        f"a\n²\n{B64}\n",
        f"a\n{'9' * 30}\n{B64}\n",
        f"a\n\n{B64}\n",
        "a\n1\n!!!\n",
        "a\n1\nAAAA\n",
        "a\n1\né\n",
        f"a\n1\n{B64}\n\nno signature\n",
        f"a\n1\n{B64}\n\n—  \n",
        f"a\n1\n{B64}\n\n— name !!!\n",
        f"a\n1\n{B64}",
        "a\n" * 20_000,
        f"{'a' * NOTE_LIMIT}\n1\n{B64}\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: Any) -> None:
    """Lines too many or too few, other spellings of a number, wrong base64, wrong lengths."""
    with pytest.raises(BadCheckpoint):
        parse_note(text)


@given(st.text(max_size=80) | st.lists(st.sampled_from(["a", "1", "", B64, "— n " + B64])))
def test_any_text_is_a_checkpoint_or_refused(given_text: str | list[str]) -> None:
    """No other exception escapes."""
    text = given_text if isinstance(given_text, str) else "\n".join(given_text) + "\n"
    try:
        note = parse_note(text)
    except BadCheckpoint:
        return
    assert text.startswith(note.checkpoint.text)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40),
    st.integers(0, 10**15),
    st.binary(min_size=32, max_size=32),
    st.booleans(),
)
def test_a_checkpoint_is_read_as_it_was_made(log: str, size: int, root: bytes, sign: bool) -> None:
    """Writing and reading are each other's reverse."""
    note = make_note(log, size, root, SIGNER if sign else None)
    assert parse_note(note.text) == note
    assert note.is_signed_by(VERIFIER) == sign


def test_a_file_of_checkpoints_gives_them_all() -> None:
    """Anchors append one after another, with an empty line between."""
    notes = [make_note("ab", 1, ROOT, SIGNER), make_note("ab", 2, ROOT), make_note("cd", 3, ROOT)]
    assert parse_notes("\n" + "\n".join(note.text for note in notes)) == notes
    assert parse_notes("") == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("hello\n" + make_note("ab", 1, ROOT).text, "begins with 'hello'"),
        (make_note("ab", 1, ROOT).text + "\nhello\n", "Not a signature line"),
        ("amplifier.audit/ab\n1\n", "origin, size and root"),
    ],
)
def test_a_file_with_something_else_in_it_is_refused(text: str, word: str) -> None:
    """What is not a checkpoint is not skipped: it may be one that was damaged."""
    with pytest.raises(BadCheckpoint, match=word):
        parse_notes(text)


def test_a_name_is_a_fourth_line_under_the_signature() -> None:
    """Whose log it is cannot be changed without the key."""
    note = make_note("ab", 5, bytes(32), SIGNER, "ann")
    assert note.checkpoint.text.splitlines()[3] == "name ann"
    assert parse_note(note.text) == note
    assert note.is_signed_by(VERIFIER)
    assert not parse_note(note.text.replace("name ann", "name bob")).is_signed_by(VERIFIER)


@pytest.mark.parametrize("line", ["name", "name ", "name a b", "ann", "other x", "name .x"])
def test_any_other_fourth_line_is_refused(line: str) -> None:
    """What is not understood is not taken for signed."""
    text = make_note("ab", 5, bytes(32)).text + line + "\n"
    with pytest.raises(BadCheckpoint):
        parse_note(text)


def test_a_checkpoint_of_up_to_sixteen_kib_is_read() -> None:
    """Room for a long origin and many witnesses; what is longer was not written by anybody."""
    rest = f"\n1\n{B64}\n"
    longest = "a" * (16_384 - len(rest)) + rest
    assert parse_note(longest).text == longest
    with pytest.raises(BadCheckpoint, match="no text that ends"):
        parse_note("a" + longest)


def test_a_size_of_up_to_sixteen_digits_is_read() -> None:
    """All that numbers of JSON can hold exactly, and no more."""
    assert parse_note(f"a\n{'9' * 16}\n{B64}\n").checkpoint.size == 10**16 - 1
    with pytest.raises(BadCheckpoint, match="Not the size of a log"):
        parse_note(f"a\n{'9' * 17}\n{B64}\n")
