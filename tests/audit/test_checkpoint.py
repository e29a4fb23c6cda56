"""Checkpoints in the C2SP format and their signatures."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from amplifier_audit.errors import BadCheckpoint, BadKey
from amplifier_audit.format.checkpoint import make_note, parse_note, parse_notes
from amplifier_audit.keys.signing import Ed25519Signer, create_key, load_signer
from amplifier_audit.keys.verifying import Ed25519Verifier, load_verifier
from tests.audit.support import OTHER, SIGNER, VERIFIER

ROOT = bytes(range(32))
B64 = base64.b64encode(ROOT).decode()


def test_the_text_is_origin_size_and_root() -> None:
    """Body as in the C2SP checkpoint format."""
    note = make_note("ab", 7, ROOT)
    assert note.text == f"amplifier.audit/ab\n7\n{B64}\n"
    assert note.checkpoint.log == "ab"
    assert parse_note(note.text) == note


def test_a_signature_line_has_key_name_key_id_and_signature() -> None:
    """Signed with Ed25519, so that existing witnesses and verifiers can be used."""
    note = make_note("ab", 7, ROOT, SIGNER)
    body, line = note.text.split("\n\n")
    dash, name, blob = line.rstrip("\n").split(" ")
    raw = base64.b64decode(blob)
    assert (dash, name, raw[:4], len(raw)) == ("—", "amplifier-audit", SIGNER.key_id, 68)
    assert VERIFIER.verify(body.encode() + b"\n", raw[4:])
    assert parse_note(note.text) == note
    assert note.is_signed_by(VERIFIER)


def test_the_signature_of_another_key_or_on_another_text_does_not_count() -> None:
    """T23: wrong key, newer key over old records."""
    assert not make_note("ab", 7, ROOT, OTHER).is_signed_by(VERIFIER)
    assert not make_note("ab", 7, ROOT).is_signed_by(VERIFIER)
    moved = make_note("ab", 7, ROOT, SIGNER).text.replace("\n7\n", "\n8\n")
    assert not parse_note(moved).is_signed_by(VERIFIER)


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
        "a\n1\n!!!\n",
        "a\n1\nAAAA\n",
        f"a\n1\n{B64}\n\nno signature\n",
        f"a\n1\n{B64}\n\n—  \n",
        f"a\n1\n{B64}\n\n— name !!!\n",
        "a\n" * 20_000,
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str | None) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(BadCheckpoint):
        parse_note(text)


def test_a_file_of_checkpoints_gives_them_all() -> None:
    """The anchors append one after another."""
    notes = [make_note("ab", 1, ROOT, SIGNER), make_note("ab", 2, ROOT), make_note("cd", 3, ROOT)]
    assert parse_notes("\n" + "\n".join(note.text for note in notes)) == notes
    assert parse_notes("") == []
    with pytest.raises(BadCheckpoint, match="begins with"):
        parse_notes("hello\n" + notes[0].text)


def test_a_key_file_is_for_its_owner_only(tmp_path: Path) -> None:
    """Key file mode 0600."""
    path = tmp_path / "key"
    made = create_key(path, "mine")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    loaded = load_signer(path)
    assert (loaded.name, loaded.public) == ("mine", made.public)
    path.chmod(0o644)
    with pytest.raises(BadKey, match="chmod 600"):
        load_signer(path)
    with pytest.raises(BadKey, match="File exists"):
        create_key(path)


def test_a_public_key_comes_from_text_from_its_file_or_from_the_private_one(tmp_path: Path) -> None:
    """Keys are kept by whoever verifies."""
    signer = create_key(tmp_path / "private")
    (tmp_path / "public").write_text(signer.public + "\n")
    sources = (signer.public, str(tmp_path / "public"), str(tmp_path / "private"))
    assert {load_verifier(source).key_id for source in sources} == {signer.key_id}


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\xff\xfe", "not text"),
        (b"hello", "Not a key"),
        (b"a+b+AAAA", "not an Ed25519"),
        (b"name+00000000+" + SIGNER.public.split("+", 2)[2].encode(), "does not have the id"),
    ],
)
def test_a_bad_key_is_one_sentence(tmp_path: Path, content: bytes, word: str) -> None:
    """Bad input: wrong key."""
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(BadKey, match=word):
        load_verifier(str(tmp_path / "key"))


def test_a_missing_key_is_one_sentence(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(BadKey, match="No such file"):
        load_verifier(str(tmp_path / "none"))
    with pytest.raises(BadKey, match="No such file"):
        load_signer(tmp_path / "none")
    (tmp_path / "public").write_text(SIGNER.public)
    (tmp_path / "public").chmod(0o600)
    with pytest.raises(BadKey, match="no private key"):
        load_signer(tmp_path / "public")


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb"])
def test_a_key_name_fits_on_a_signature_line(name: str) -> None:
    """`name` has no space, no plus sign and no line break."""
    with pytest.raises(BadKey):
        Ed25519Signer(bytes(32), name)
    with pytest.raises(BadKey):
        Ed25519Verifier(name, bytes(32))
