"""The text form of a key: name, id and base64."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import BadKey
from amplifier_audit.keys import (
    format_key,
    make_key_id,
    parse_key,
    read_key_file,
    refuse_bad_name,
)
from tests.audit.support import SIGNER

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="+"), min_size=1, max_size=20
).filter(lambda name: not any(character.isspace() for character in name))
RAW = st.binary(min_size=32, max_size=32)


@given(NAMES, RAW)
def test_a_key_is_read_as_it_was_written(name: str, raw: bytes) -> None:
    """Writing and reading are each other's reverse."""
    text = format_key(name, make_key_id(name, raw), raw)
    assert parse_key(text) == (name, raw)


@given(NAMES, RAW, RAW)
def test_the_id_belongs_to_name_and_key(name: str, raw: bytes, other: bytes) -> None:
    """Another key, or the same one under another name, has another id."""
    assert len(make_key_id(name, raw)) == 4
    if other != raw:
        assert make_key_id(name, raw) != make_key_id(name, other)
    assert make_key_id(name, raw) != make_key_id(name + "x", raw)


def test_a_public_key_must_have_the_id_that_it_states() -> None:
    """A key that was mixed up with another is found; a private one states the public one's id."""
    text = format_key("mine", b"\0\0\0\0", bytes(32))
    with pytest.raises(BadKey, match="does not have the id '00000000'"):
        parse_key(text)
    assert parse_key(text, private=True) == ("mine", bytes(32))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "expected name"),
        ("hello", "expected name"),
        ("a+b", "expected name"),
        ("a+b+!!!", "expected name"),
        ("a+b+é", "expected name"),
        ("a+b+", "not an Ed25519 key"),
        ("a+b+AAAA", "not an Ed25519 key"),
        (SIGNER.public + "AAAA", "not an Ed25519 key"),
        (format_key("a", bytes(4), bytes(31)), "not an Ed25519 key"),
        (SIGNER.public.replace("+AQ", "+Ag"), "not an Ed25519 key"),
    ],
)
def test_what_is_no_key_is_refused_in_one_sentence(text: str, word: str) -> None:
    """Too few parts, wrong base64, another length, another kind of key."""
    with pytest.raises(BadKey, match=word):
        parse_key(text)


@given(st.text())
def test_any_text_is_a_key_or_a_bad_key(text: str) -> None:
    """No other exception escapes."""
    with pytest.raises(BadKey):
        parse_key(text)


def test_a_message_about_a_bad_key_does_not_repeat_it() -> None:
    """It may be a private one that somebody gave by mistake."""
    secret = "PRIVATE-KEY-" + "s" * 60
    with pytest.raises(BadKey) as error:
        parse_key(secret)
    assert "s" * 20 not in str(error.value)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u2028b", "\t"])
def test_a_name_that_does_not_fit_on_a_signature_line_is_refused(name: str) -> None:
    """A space or a line break would end it, a plus sign would end it in the key's text."""
    with pytest.raises(BadKey, match="no space and no plus sign"):
        refuse_bad_name(name)


@given(NAMES)
def test_any_other_name_will_do(name: str) -> None:
    """Letters of any script, dots, slashes."""
    refuse_bad_name(name)


def test_a_key_file_is_read_without_the_space_around_it(tmp_path: Path) -> None:
    """Editors end a file with a line break."""
    (tmp_path / "key").write_text(f"\n  {SIGNER.public}  \n")
    assert read_key_file(tmp_path / "key") == SIGNER.public


def test_a_key_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """Not there, a folder, or not text."""
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(BadKey, match="No such file"):
        read_key_file(tmp_path / "none")
    with pytest.raises(BadKey, match="Is a directory"):
        read_key_file(tmp_path)
    with pytest.raises(BadKey, match="it is not text"):
        read_key_file(tmp_path / "bytes")
