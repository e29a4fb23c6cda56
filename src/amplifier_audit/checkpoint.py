"""A checkpoint in the C2SP format: origin, size and root of a log, and signatures on them.

amplifier.audit/6f1c…        origin: which log
1000                         size: how many records
5ibGq1…=                     root of the RFC 6962 tree over them
name 3f2a-session            whose log it is, if that is known; an extension line of the format

— amplifier-audit Tm9LZ…     name of the key; key id and Ed25519 signature
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Protocol

from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.record import is_log_name

ORIGIN = "amplifier.audit/"
NOTE_LIMIT = 16 * 1024
_NAME = "name "


class Signer(Protocol):
    """Holds a private key. `name` has no space, no plus sign and no line break."""

    @property
    def name(self) -> str: ...
    @property
    def key_id(self) -> bytes: ...
    @property
    def public(self) -> str:
        """The public key as text, to be kept by whoever verifies."""
        ...

    def sign(self, message: bytes) -> bytes: ...


class SignatureVerifier(Protocol):
    """Holds a public key."""

    @property
    def name(self) -> str: ...
    @property
    def key_id(self) -> bytes: ...

    def verify(self, message: bytes, signature: bytes) -> bool: ...


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was true of a log at one moment."""

    origin: str
    size: int
    root: bytes
    name: str | None = None

    @property
    def log(self) -> str:
        """The id of the log."""
        return self.origin.removeprefix(ORIGIN)

    @property
    def text(self) -> str:
        """The signed text, with its final line break."""
        name = "" if self.name is None else f"{_NAME}{self.name}\n"
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n{name}"


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature line."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """A checkpoint with its signatures; `text` is what is kept and sent."""

    checkpoint: Checkpoint
    text: str
    signatures: tuple[Signature, ...] = ()

    def is_signed_by(self, key: SignatureVerifier) -> bool:
        """Whether one of the signatures is a valid one of that key."""
        message = self.checkpoint.text.encode()
        return any(
            s.name == key.name and s.key_id == key.key_id and key.verify(message, s.signature)
            for s in self.signatures
        )


def make_note(
    log: str, size: int, root: bytes, signer: Signer | None = None, name: str | None = None
) -> Note:
    """The checkpoint of a log, signed if there is a signer."""
    checkpoint = Checkpoint(ORIGIN + log, size, root, name)
    if signer is None:
        return Note(checkpoint, checkpoint.text)
    signature = Signature(signer.name, signer.key_id, signer.sign(checkpoint.text.encode()))
    blob = base64.b64encode(signature.key_id + signature.signature).decode()
    return Note(checkpoint, f"{checkpoint.text}\n— {signer.name} {blob}\n", (signature,))


def parse_note(text: Any) -> Note:
    """Read a checkpoint; extension lines other than the name are refused."""
    if not isinstance(text, str) or len(text) > NOTE_LIMIT or not text.endswith("\n"):
        raise BadCheckpoint("Not a checkpoint: no text that ends with a line break")
    body, blank, signed = text.partition("\n\n")
    lines = body.removesuffix("\n").split("\n")
    if len(lines) not in (3, 4):
        raise BadCheckpoint(f"A checkpoint has origin, size and root; this has {len(lines)} lines")
    name = _parse_name(lines[3]) if len(lines) == 4 else None
    checkpoint = Checkpoint(lines[0], _parse_size(lines[1]), _decode(lines[2], 32), name)
    signatures = tuple(map(_parse_signature, signed.splitlines())) if blank else ()
    return Note(checkpoint, text, signatures)


def parse_notes(text: str) -> list[Note]:
    """All checkpoints of a file in which they follow one another, as the anchors write them."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith(ORIGIN):
            blocks.append([])
        if line and not blocks:
            raise BadCheckpoint(f"Not a file of checkpoints: it begins with {line[:40]!r}")
        if blocks:
            blocks[-1].append(line)
    return [parse_note("\n".join(block).rstrip("\n") + "\n") for block in blocks]


def _parse_signature(line: str) -> Signature:
    dash, _, rest = line.partition(" ")
    name, _, blob = rest.partition(" ")
    if dash != "—" or not name:
        raise BadCheckpoint(f"Not a signature line: {line[:80]!r}")
    raw = _decode(blob)
    return Signature(name, raw[:4], raw[4:])


def _parse_name(line: str) -> str:
    name = line.removeprefix(_NAME)
    if not line.startswith(_NAME) or not is_log_name(name):
        raise BadCheckpoint(f"A checkpoint has origin, size, root and name, not {line[:80]!r}")
    return name


def _parse_size(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 16 or text != str(int(text)):
        raise BadCheckpoint(f"Not the size of a log: {text[:40]!r}")
    return int(text)


def _decode(text: str, length: int | None = None) -> bytes:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadCheckpoint(f"Not base64: {text[:80]!r}") from error
    if length is not None and len(raw) != length:
        raise BadCheckpoint(f"A root has {length} bytes, this one {len(raw)}")
    return raw
