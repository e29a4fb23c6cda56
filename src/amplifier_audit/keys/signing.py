"""Private keys: each in a file for its owner only. Needs cryptography, the extra `audit`."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_audit.errors import BadKey
from amplifier_audit.keys.key_text import (
    PRIVATE,
    format_key,
    make_key_id,
    parse_key,
    read_key_file,
    refuse_bad_name,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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
