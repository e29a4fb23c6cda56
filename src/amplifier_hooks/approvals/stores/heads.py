"""The heads of audit trails, as a witness keeps them: each must continue the one before."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from amplifier_audit.checkpoint import ORIGIN, Note, parse_note
from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.merkle import verify_consistency
from amplifier_hooks.approvals.errors import BadRequest, Conflict, NotAllowed, NotFound
from amplifier_hooks.approvals.models import TrailHead
from amplifier_hooks.approvals.stores.checks import read_name
from amplifier_hooks.approvals.stores.engine import Engine, Row, Transaction

LONGEST_PROOF = 64
MOST_HEADS = 1_000
MOST_NOTES = 1_000

_LOCK = "UPDATE heads SET seen = seen WHERE log = :log RETURNING *"
_FIRST = """
INSERT INTO heads (log, name, size, root, note, signer, seen, machine)
VALUES (:log, :name, :size, :root, :note, :signer, unix_now(), :machine)
ON CONFLICT (log) DO NOTHING
RETURNING *
"""
_NEXT = """
UPDATE heads SET size = :size, root = :root, note = :note, name = :name, signer = :signer,
    seen = unix_now()
WHERE log = :log
RETURNING *
"""
_OTHERS = "SELECT machine FROM heads WHERE name = :name AND machine <> :machine LIMIT 1"
_REMEMBER = """
INSERT INTO head_history (log, size, root, note, seen)
VALUES (:log, :size, :root, :note, unix_now())
ON CONFLICT (log, size) DO NOTHING
"""


class Heads:
    """What this store has witnessed of trails."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def put(self, note_text: str, proof: Sequence[bytes], machine: str = "") -> TrailHead:
        """Keep a checkpoint that continues the trail; Conflict if it contradicts an earlier one.

        The proof shows that the records which the newest known checkpoint covers are still there,
        unchanged, under the new one. A checkpoint that is known gets the newest one back. A trail
        is its `machine`'s, and so is its name: NotAllowed for every other.
        """
        note = _read_note(note_text)
        if len(proof) > LONGEST_PROOF or any(len(one) != 32 for one in proof):
            raise BadRequest(f"A proof has up to {LONGEST_PROOF} hashes of 32 bytes")
        read_name("machine", machine, may_be_empty=True)
        return await self._engine.write(
            lambda transaction: _put(transaction, note, list(proof), machine)
        )

    async def get(self, log: str) -> TrailHead:
        """The newest checkpoint of a trail."""
        rows = await self._engine.read(
            lambda transaction: transaction.run("SELECT * FROM heads WHERE log = :log", log=log)
        )
        if not rows:
            raise NotFound(f"No checkpoint of the trail {log!r} has been seen here")
        return _read(rows[0])

    async def list(self, name: str = "") -> list[TrailHead]:
        """The newest checkpoint of every trail, or of every trail of that name."""
        where = "WHERE name = :name" if name else ""
        statement = f"SELECT * FROM heads {where} ORDER BY seen DESC, log LIMIT {MOST_HEADS}"
        given = {"name": name} if name else {}
        rows = await self._engine.read(lambda transaction: transaction.run(statement, **given))
        return [_read(row) for row in rows]

    async def history(self, log: str) -> Notes:
        """The newest checkpoints of a trail that were kept, the oldest of them first."""
        statement = "SELECT note FROM head_history WHERE log = :log ORDER BY size DESC LIMIT :most"
        rows = await self._engine.read(
            lambda transaction: transaction.run(statement, log=log, most=MOST_NOTES)
        )
        return [row["note"] for row in reversed(rows)]


Notes = list[str]


def _read_note(text: str) -> Note:
    try:
        note = parse_note(text)
    except BadCheckpoint as error:
        raise BadRequest(f"Not a checkpoint: {error}") from error
    if not note.checkpoint.origin.startswith(ORIGIN) or not note.checkpoint.log:
        raise BadRequest(f"A checkpoint's origin begins with {ORIGIN!r} and the id of its log")
    read_name("log", note.checkpoint.log)
    return note


def _put(transaction: Transaction, note: Note, proof: Sequence[bytes], machine: str) -> TrailHead:
    known = transaction.run(_LOCK, log=note.checkpoint.log)
    _refuse_other_machine(transaction, known, note, machine)
    if not known:
        first = transaction.run(_FIRST, **_write(note), machine=machine)
        if first:
            _remember(transaction, note)
            return _read(first[0])
        known = transaction.run(_LOCK, log=note.checkpoint.log)
    if _is_known(transaction, known[0], note):
        return _read(known[0])
    _refuse_contradiction(known[0], note, proof)
    following = transaction.run(_NEXT, **_write(note))
    _remember(transaction, note)
    return _read(following[0])


def _refuse_other_machine(
    transaction: Transaction, known: Sequence[Row], note: Note, machine: str
) -> None:
    """Raise NotAllowed for a trail that somebody else reports.

    Otherwise anybody could continue it with records of their own, after which its owner would
    seem to contradict them.
    """
    log = note.checkpoint.log
    name = note.checkpoint.name or ""
    others = [row["machine"] for row in known]
    if name and name not in [row["name"] for row in known]:  # looking for a name takes longer
        others += [row["machine"] for row in transaction.run(_OTHERS, name=name, machine=machine)]
    if wrong := [one for one in others if one != machine]:
        raise NotAllowed(f"The trail {log!r} is reported by {wrong[0]!r}, not by {machine!r}")


def _is_known(transaction: Transaction, head: Row, note: Note) -> bool:
    """Whether it says the same as what was kept at its size; Conflict if it says otherwise."""
    _refuse_other_signer(head, note)
    checkpoint = note.checkpoint
    kept = transaction.run(
        "SELECT root FROM head_history WHERE log = :log AND size = :size",
        log=checkpoint.log,
        size=checkpoint.size,
    )
    if not kept:
        return False
    if kept[0]["root"] != _encode(checkpoint.root):
        raise Conflict(
            f"The trail {checkpoint.log!r} had another root at size {checkpoint.size}: there are "
            "two histories of it"
        )
    return True


def _refuse_other_signer(head: Row, note: Note) -> None:
    signer = _name_signer(note)
    # A trail may begin to be signed; it cannot change its key, nor stop.
    if head["signer"] and signer != head["signer"]:
        raise Conflict(
            f"The trail {head['log']!r} is signed by {head['signer']!r}, and this checkpoint by "
            f"{signer or 'nobody'!r}"
        )


def _refuse_contradiction(head: Row, note: Note, proof: Sequence[bytes]) -> None:
    new = note.checkpoint
    if new.size < head["size"]:
        raise Conflict(
            f"The trail {new.log!r} has {head['size']} records here; a checkpoint of {new.size} "
            "records that was never seen cannot be compared"
        )
    if head["size"] == 0:  # every trail continues one without records
        return
    old_root = base64.b64decode(head["root"])
    if not verify_consistency(head["size"], old_root, new.size, new.root, proof):
        raise Conflict(
            f"Nothing proves that the {new.size} records of the trail {new.log!r} continue the "
            f"{head['size']} that were seen here"
        )


def _remember(transaction: Transaction, note: Note) -> None:
    values = _write(note)
    transaction.run(_REMEMBER, **{name: values[name] for name in ("log", "size", "root", "note")})


def _write(note: Note) -> dict[str, str | int]:
    checkpoint = note.checkpoint
    return {
        "log": checkpoint.log,
        "name": checkpoint.name or "",
        "size": checkpoint.size,
        "root": _encode(checkpoint.root),
        "note": note.text,
        "signer": _name_signer(note),
    }


def _name_signer(note: Note) -> str:
    return ",".join(sorted(f"{one.name}+{one.key_id.hex()}" for one in note.signatures))


def _encode(root: bytes) -> str:
    return base64.b64encode(root).decode()


def _read(row: Row) -> TrailHead:
    return TrailHead(
        log=row["log"],
        name=row["name"],
        size=row["size"],
        note=row["note"],
        seen=row["seen"],
        machine=row["machine"],
    )
