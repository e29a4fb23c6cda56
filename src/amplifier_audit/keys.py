"""Keys: made, read and kept as text; signing with one, and verifying with another."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_audit.ed25519 import verify_signature
from amplifier_audit.errors import BadKey
from amplifier_audit.regular import read_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


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


DEFAULT_NAME = "amplifier-audit"


class Ed25519Signer:
    """A private key."""

    def __init__(self, seed: bytes, name: str = DEFAULT_NAME) -> None:
        refuse_bad_name(name)
        self.name = name
        self._key = _load_private_key(seed)
        raw = self._key.public_key().public_bytes_raw()
        self.key_id = make_key_id(name, raw)
        self.public = format_key(name, self.key_id, raw)

    def sign(self, message: bytes) -> bytes:
        """The signature on a message."""
        return self._key.sign(message)


def create_key(path: str | os.PathLike[str], name: str = DEFAULT_NAME) -> Ed25519Signer:
    """Make a new key and its file, mode 0600; an existing file is never replaced."""
    seed = os.urandom(32)
    signer = Ed25519Signer(seed, name)
    content = f"{PRIVATE}{format_key(name, signer.key_id, seed)}\n".encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BadKey(f"Cannot make the key file {path}: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(Path(path).parent)
    return signer


def load_signer(path: str | os.PathLike[str]) -> Ed25519Signer:
    """Read a private key; a file that others can read is refused."""
    mode = _read_mode(Path(path))
    if mode & 0o077:
        raise BadKey(f"The key file {path} has mode {mode:04o}; others must not read it: chmod 600")
    text = read_key_file(Path(path))
    if not text.startswith(PRIVATE):
        raise BadKey(f"{path} holds no private key of an audit log")
    name, seed = parse_key(text.removeprefix(PRIVATE), private=True)
    return Ed25519Signer(seed, name)


def _read_mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise BadKey(f"Cannot read the key {path}: {error.strerror}") from error


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable, too: a log without its key cannot be continued."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _load_private_key(seed: bytes) -> Ed25519PrivateKey:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise BadKey(
            f"Signing needs the package cryptography; install it with: {_name_install_command()}"
        ) from error
    return Ed25519PrivateKey.from_private_bytes(seed)


def _name_install_command() -> str:
    """Names the package itself: this folder may have been copied without its distribution."""
    python = shlex.quote(sys.executable)
    installer = f"{python} -m pip install" if find_spec("pip") else f"uv pip install -p {python}"
    return f"{installer} 'cryptography>=46'"


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
