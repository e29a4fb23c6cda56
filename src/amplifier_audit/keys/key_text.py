"""The text form of a key: the verifier key of C2SP signed notes, `name+keyid+base64`."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from amplifier_audit.errors import BadKey
from amplifier_audit.regular import read_regular

ED25519 = b"\x01"
PRIVATE = "PRIVATE+KEY+"
"""What the text of a private key begins with."""

_MOST = 64 * 1024
"""Bytes of a key file."""


def format_key(name: str, key_id: bytes, raw: bytes) -> str:
    """The text of a key."""
    return f"{name}+{key_id.hex()}+{base64.b64encode(ED25519 + raw).decode()}"


def parse_key(text: str, *, private: bool = False) -> tuple[str, bytes]:
    """Name and bytes of a key; the id that the text states must be that of a public one."""
    parts = text.split("+", 2)
    try:
        raw = base64.b64decode(parts[2], validate=True)
    except (IndexError, ValueError) as error:
        raise BadKey(f"Not a key: {text[:20]!r}…; expected name+keyid+base64") from error
    if raw[:1] != ED25519 or len(raw) != 33:
        raise BadKey(f"The key {parts[0]!r} is not an Ed25519 key")
    if not private and make_key_id(parts[0], raw[1:]).hex() != parts[1]:
        raise BadKey(f"The key {parts[0]!r} does not have the id {parts[1]!r} that it names")
    return parts[0], raw[1:]


def make_key_id(name: str, public: bytes) -> bytes:
    """Four bytes by which a signature names its key."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def refuse_bad_name(name: str) -> None:
    """A name must fit on a signature line."""
    if not name or "+" in name or any(character.isspace() for character in name):
        raise BadKey(f"A key's name has no space and no plus sign; got {name!r}")


def read_key_file(path: Path) -> str:
    """The text in a key file."""
    try:
        return read_regular(path, _MOST).decode("ascii").strip()
    except OSError as error:
        raise BadKey(f"Cannot read the key {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadKey(f"{path} holds no key: it is not text") from error
