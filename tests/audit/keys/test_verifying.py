"""Public keys, with the cryptography package and without."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from amplifier_audit.errors import BadKey
from amplifier_audit.keys import Ed25519Verifier, create_key, load_verifier
from tests.audit.support import OTHER, SIGNER


@pytest.fixture(params=["with cryptography", "without"])
def verifier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Ed25519Verifier:
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    return Ed25519Verifier.from_text(SIGNER.public)


def test_a_signature_of_this_key_is_valid(verifier: Ed25519Verifier) -> None:
    """The same answers, whatever is installed."""
    assert verifier.verify(b"message", SIGNER.sign(b"message"))
    assert (verifier.name, verifier.key_id) == (SIGNER.name, SIGNER.key_id)


@pytest.mark.parametrize(
    "signature",
    [OTHER.sign(b"message"), SIGNER.sign(b"other"), bytes(64), b"", bytes(63), bytes(65)],
    ids=["another key", "another message", "zeros", "nothing", "too short", "too long"],
)
def test_no_other_signature_is(verifier: Ed25519Verifier, signature: bytes) -> None:
    """Of any length; none of them raises."""
    assert not verifier.verify(b"message", signature)


def test_a_public_key_comes_from_text_from_its_file_or_from_the_private_one(tmp_path: Path) -> None:
    """Whatever is at hand."""
    signer = create_key(tmp_path / "private")
    (tmp_path / "public").write_text(signer.public + "\n")
    sources = (signer.public, str(tmp_path / "public"), str(tmp_path / "private"))
    assert {load_verifier(source).key_id for source in sources} == {signer.key_id}


def test_a_file_whose_name_has_plus_signs_is_still_a_file(tmp_path: Path) -> None:
    """Only what looks like a key is taken for the text of one."""
    path = tmp_path / "a+b+c"
    path.write_text(SIGNER.public)
    assert load_verifier(path).key_id == load_verifier(str(path)).key_id == SIGNER.key_id


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\xff\xfe", "not text"),
        (b"hello", "Not a key"),
        (b"", "Not a key"),
        (b"a+b+AAAA", "not an Ed25519"),
        (b"name+00000000+" + SIGNER.public.split("+", 2)[2].encode(), "does not have the id"),
    ],
)
def test_a_bad_key_is_one_sentence(tmp_path: Path, content: bytes, word: str) -> None:
    """A file of something else, or a key that was damaged."""
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(BadKey, match=word):
        load_verifier(str(tmp_path / "key"))


@pytest.mark.parametrize("source", ["none", "name+00000000+é", "name+00000000+AAAA", ""])
def test_what_is_neither_a_key_nor_a_file_is_one_sentence(tmp_path: Path, source: str) -> None:
    """Also what looks like a key and is none."""
    with pytest.raises(BadKey):
        load_verifier(source and (source if "+" in source else str(tmp_path / source)))


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb"])
def test_a_name_that_no_signature_line_can_have_is_refused(name: str) -> None:
    """Such a key could never match."""
    with pytest.raises(BadKey):
        Ed25519Verifier(name, bytes(32))


def test_a_key_can_be_sent_to_another_process(verifier: Ed25519Verifier) -> None:
    """Which verifies a part of a log with it."""
    sent = pickle.loads(pickle.dumps(verifier))
    assert (sent.name, sent.key_id) == (verifier.name, verifier.key_id)
    assert sent.verify(b"message", SIGNER.sign(b"message"))
    assert not sent.verify(b"message", OTHER.sign(b"message"))
