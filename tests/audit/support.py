"""What the tests of the audit trail share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_audit.format.chain import Chain, make_log_id
from amplifier_audit.format.checkpoint import make_note
from amplifier_audit.format.encoding import encode_body
from amplifier_audit.format.record import Record, encode_source, parse_record
from amplifier_audit.format.record_types import mark_foreign
from amplifier_audit.keys.signing import Ed25519Signer
from amplifier_audit.keys.verifying import Ed25519Verifier
from amplifier_audit.writer.log import AuditLog
from amplifier_audit.writer.settings import AuditSettings

SIGNER = Ed25519Signer(bytes(range(32)))
VERIFIER = Ed25519Verifier.from_text(SIGNER.public)
OTHER = Ed25519Signer(bytes(range(1, 33)))
FAST = AuditSettings(gather_seconds=0.001)


def source(type: str = "dispatch") -> bytes:
    """The middle of a line."""
    return encode_source(type, "s1", 1, "tool:pre", "guard", 7)


def lines_of(
    count: int, *, signer: Any = None, log: str | None = None, every: int = 50
) -> list[bytes]:
    """The lines of a log as a writer makes them: a checkpoint second and then now and again."""
    chain = Chain(log or make_log_id())
    lines: list[bytes] = []
    while chain.size < count:
        if chain.size == 0:
            lines.append(
                chain.extend(source("log_opened"), encode_body({"checkpoint_every": every}))
            )
        elif chain.size % every == 1:
            note = make_note(chain.log, chain.size, chain.tree.compute_root(), signer)
            lines.append(chain.extend(source("checkpoint"), encode_body({"note": note.text})))
        else:
            lines.append(
                chain.extend(source(), encode_body({"n": chain.size, "text": "héllo \x7f"}))
            )
    return lines


async def write_log(
    path: Path, count: int = 20, settings: AuditSettings = FAST, **options: Any
) -> None:
    """A closed log with so many records of our own."""
    log = await AuditLog.open(path, settings, **options)
    for number in range(count):
        log.append("dispatch", {"n": number, "action": "continue"}, session="s1", event="tool:pre")
    await log.commit()
    await log.close()


class LineCollector:
    """Appends as a log does, and keeps the lines in memory."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._chain = Chain(make_log_id())

    def append(
        self,
        type: Any,
        body: Any,
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> None:
        middle = encode_source(mark_foreign(type), session, turn, event, hook, registration)
        self.lines.append(self._chain.extend(middle, encode_body(body)))

    @property
    def records(self) -> list[Record]:
        return [parse_record(line) for line in self.lines]
