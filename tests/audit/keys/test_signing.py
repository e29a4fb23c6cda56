"""Private keys and their files."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from amplifier_audit.errors import BadKey
from amplifier_audit.keys import (
    DEFAULT_NAME,
    PRIVATE,
    Ed25519Signer,
    Ed25519Verifier,
    create_key,
    load_signer,
)
from tests.audit.support import SIGNER


def test_what_a_key_signs_its_public_half_verifies() -> None:
    """The public half is text that can be mailed and printed."""
    signer = Ed25519Signer(os.urandom(32), "mine")
    verifier = Ed25519Verifier.from_text(signer.public)
    assert (verifier.name, verifier.key_id) == ("mine", signer.key_id)
    assert verifier.verify(b"message", signer.sign(b"message"))
    assert not verifier.verify(b"another", signer.sign(b"message"))


def test_a_key_file_is_for_its_owner_only(tmp_path: Path) -> None:
    """One that others can read is refused, and an existing one is never replaced."""
    path = tmp_path / "key"
    made = create_key(path, "mine")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    loaded = load_signer(path)
    assert (loaded.name, loaded.public) == ("mine", made.public)
    path.chmod(0o644)
    with pytest.raises(BadKey, match="has mode 0644; others must not read it: chmod 600"):
        load_signer(path)
    content = path.read_bytes()
    with pytest.raises(BadKey, match="File exists"):
        create_key(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("bit", [0o001, 0o002, 0o004, 0o010, 0o020, 0o040])
def test_a_key_file_that_anybody_else_may_use_is_refused(tmp_path: Path, bit: int) -> None:
    """For the group or for others, to read, write or run: each bit counts by itself."""
    path = tmp_path / "key"
    create_key(path)
    path.chmod(0o600 | bit)
    with pytest.raises(BadKey, match=f"has mode {0o600 | bit:04o}"):
        load_signer(path)
    path.chmod(0o400)
    assert load_signer(path).key_id


def test_a_new_key_is_durable_before_anybody_signs_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Content and name: a log whose key a crash took could never be continued."""
    path, real = tmp_path / "key", os.fsync
    synced: list[bytes | str] = []

    def watch(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append("folder" if is_folder else path.read_bytes())
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    create_key(path)
    assert synced == [path.read_bytes(), "folder"]


def test_a_loaded_key_signs_as_the_one_that_was_made(tmp_path: Path) -> None:
    """Ed25519 signatures are the same each time."""
    made = create_key(tmp_path / "key")
    assert load_signer(tmp_path / "key").sign(b"m") == made.sign(b"m")
    assert made.name == DEFAULT_NAME


def test_two_keys_are_not_the_same(tmp_path: Path) -> None:
    """Each comes from fresh random bytes."""
    one, two = create_key(tmp_path / "one"), create_key(tmp_path / "two")
    assert one.public != two.public


def test_a_private_key_that_cannot_be_loaded_is_one_sentence(tmp_path: Path) -> None:
    """Not there, a public one, or damaged."""
    with pytest.raises(BadKey, match="No such file"):
        load_signer(tmp_path / "none")
    for content, word in (
        (SIGNER.public, "no private key"),
        (PRIVATE + "nonsense", "expected name"),
        ("", "no private key"),
    ):
        path = tmp_path / "key"
        path.write_text(content)
        path.chmod(0o600)
        with pytest.raises(BadKey, match=word):
            load_signer(path)


def test_a_key_that_cannot_be_put_anywhere_is_one_sentence(tmp_path: Path) -> None:
    """The folder is not made for it: keys go where somebody decided they should be."""
    with pytest.raises(BadKey, match="Cannot make the key file"):
        create_key(tmp_path / "no" / "key")


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb"])
def test_a_key_name_fits_on_a_signature_line(tmp_path: Path, name: str) -> None:
    """It is refused before there is a file."""
    with pytest.raises(BadKey):
        Ed25519Signer(bytes(32), name)
    with pytest.raises(BadKey):
        create_key(tmp_path / "key", name)
    assert not (tmp_path / "key").exists()


def test_without_the_extra_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signing is the one thing that needs a package."""
    create_key(tmp_path / "key")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    for use in (lambda: create_key(tmp_path / "new"), lambda: load_signer(tmp_path / "key")):
        with pytest.raises(BadKey, match=r"pip install .*'cryptography>=46'"):
            use()
    assert not (tmp_path / "new").exists()
