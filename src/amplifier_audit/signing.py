"""Ed25519 keys for checkpoints: the private one in a file for its owner, the public one as text.

The text form is the verifier key of C2SP signed notes: `name+keyid+base64`. Needs the extra
`audit`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_audit.errors import AuditError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

ED25519 = b"\x01"
DEFAULT_NAME = "amplifier-audit"
_PRIVATE = "PRIVATE+KEY+"


class BadKey(AuditError):
    """A key that cannot be used."""


class Ed25519Verifier:
    """A public key."""

    def __init__(self, name: str, raw: bytes) -> None:
        self.name = _checked_name(name)
        self.key_id = _key_id(name, raw)
        self._key = _public_key(raw)

    @classmethod
    def from_text(cls, text: str) -> Ed25519Verifier:
        """Read `name+keyid+base64`."""
        name, raw = _parsed(text)
        return cls(name, raw)

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether the signature is one of this key on the message."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


class Ed25519Signer:
    """A private key."""

    def __init__(self, seed: bytes, name: str = DEFAULT_NAME) -> None:
        self.name = _checked_name(name)
        self._key = _private_key(seed)
        raw = self._key.public_key().public_bytes_raw()
        self.key_id = _key_id(name, raw)
        self.public = _text(name, self.key_id, raw)

    def sign(self, message: bytes) -> bytes:
        """The signature on a message."""
        return self._key.sign(message)


def create_key(path: str | os.PathLike[str], name: str = DEFAULT_NAME) -> Ed25519Signer:
    """Make a new key and its file, mode 0600; an existing file is never replaced."""
    seed = os.urandom(32)
    signer = Ed25519Signer(seed, name)
    content = f"{_PRIVATE}{_text(name, signer.key_id, seed)}\n".encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BadKey(f"Cannot make the key file {path}: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return signer


def load_signer(path: str | os.PathLike[str]) -> Ed25519Signer:
    """Read a private key; a file that others can read is refused."""
    mode = _mode(Path(path))
    if mode & 0o077:
        raise BadKey(f"The key file {path} has mode {mode:04o}; others must not read it: chmod 600")
    text = _content(Path(path))
    if not text.startswith(_PRIVATE):
        raise BadKey(f"{path} holds no private key of an audit log")
    name, seed = _parsed(text.removeprefix(_PRIVATE), private=True)
    return Ed25519Signer(seed, name)


def load_verifier(source: str) -> Ed25519Verifier:
    """A public key from its text, from a file with that text, or from the private key's file."""
    if re.fullmatch(r"[^+\s/]+\+[0-9a-f]{8}\+\S+", source):
        return Ed25519Verifier.from_text(source)
    text = _content(Path(source))
    if text.startswith(_PRIVATE):
        return Ed25519Verifier.from_text(load_signer(source).public)
    return Ed25519Verifier.from_text(text)


def _content(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except OSError as error:
        raise BadKey(f"Cannot read the key {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadKey(f"{path} holds no key: it is not text") from error


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise BadKey(f"Cannot read the key {path}: {error.strerror}") from error


def _parsed(text: str, *, private: bool = False) -> tuple[str, bytes]:
    parts = text.split("+", 2)
    try:
        raw = base64.b64decode(parts[2], validate=True)
    except (IndexError, binascii.Error) as error:
        raise BadKey(f"Not a key: {text[:20]!r}…; expected name+keyid+base64") from error
    if raw[:1] != ED25519 or len(raw) != 33:
        raise BadKey(f"The key {parts[0]!r} is not an Ed25519 key")
    if not private and _key_id(parts[0], raw[1:]).hex() != parts[1]:
        raise BadKey(f"The key {parts[0]!r} does not have the id {parts[1]!r} that it names")
    return parts[0], raw[1:]


def _text(name: str, key_id: bytes, raw: bytes) -> str:
    return f"{name}+{key_id.hex()}+{base64.b64encode(ED25519 + raw).decode()}"


def _key_id(name: str, raw: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + raw).digest()[:4]


def _checked_name(name: str) -> str:
    if not name or "+" in name or any(character.isspace() for character in name):
        raise BadKey(f"A key's name has no space and no plus sign; got {name!r}")
    return name


def _private_key(seed: bytes) -> Ed25519PrivateKey:
    _need_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def _public_key(raw: bytes) -> Ed25519PublicKey:
    _need_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(raw)


def _need_cryptography() -> None:
    try:
        import cryptography  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise BadKey(
            "Signing needs the package cryptography: pip install 'amplifier-hooks[audit]'"
        ) from error
