"""Public keys, which verify: with cryptography where it is installed, else in plain Python."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from amplifier_audit.keys.ed25519 import verify_signature
from amplifier_audit.keys.key_text import (
    PRIVATE,
    make_key_id,
    parse_key,
    read_key_file,
    refuse_bad_name,
)


class Ed25519Verifier:
    """A public key."""

    def __init__(self, name: str, raw: bytes) -> None:
        refuse_bad_name(name)
        self.name = name
        self.key_id = make_key_id(name, raw)
        self._raw = raw
        self._verify = _make_check(raw)

    def __reduce__(self) -> tuple[type[Ed25519Verifier], tuple[str, bytes]]:
        """Sent to another process, it makes its check there."""
        return type(self), (self.name, self._raw)

    @classmethod
    def from_text(cls, text: str) -> Ed25519Verifier:
        """Read `name+keyid+base64`."""
        name, raw = parse_key(text)
        return cls(name, raw)

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether the signature is one of this key on the message."""
        return self._verify(message, signature)


def load_verifier(source: str | os.PathLike[str]) -> Ed25519Verifier:
    """A public key from its text, from a file with that text, or from the private key's file."""
    source = os.fspath(source)
    if re.fullmatch(r"[^+\s/]+\+[0-9a-f]{8}\+\S+", source):
        return Ed25519Verifier.from_text(source)
    text = read_key_file(Path(source))
    if text.startswith(PRIVATE):
        # Only here: an auditor has the public key, and needs no cryptography.
        from amplifier_audit.keys.signing import load_signer

        return Ed25519Verifier.from_text(load_signer(source).public)
    return Ed25519Verifier.from_text(text)


def _make_check(raw: bytes) -> Callable[[bytes, bytes], bool]:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return lambda message, signature: verify_signature(raw, message, signature)
    key = Ed25519PublicKey.from_public_bytes(raw)

    def verify(message: bytes, signature: bytes) -> bool:
        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    return verify
