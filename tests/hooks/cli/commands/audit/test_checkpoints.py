"""amplifier audit prove and checkpoint."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from amplifier_audit import AuditLog, parse_notes
from amplifier_audit.merkle import compute_inclusion_root, hash_leaf
from amplifier_audit.record import parse_record
from tests.audit.support import FAST
from tests.hooks.cli.program import Outcome, invoke


def audit(*arguments: object) -> Outcome:
    return invoke("audit", *arguments)


def test_a_proof_holds(log: Path, tmp_path: Path) -> None:
    """Whoever has the checkpoint can check the record without the log."""
    proof = json.loads(audit("prove", log, "7").stdout)
    (note,) = parse_notes(proof["checkpoint"])
    hashes = [base64.b64decode(one) for one in proof["hashes"]]
    leaf = hash_leaf(proof["record"].encode())
    root = compute_inclusion_root(7, note.checkpoint.size, leaf, hashes)
    assert root == note.checkpoint.root
    assert parse_record(proof["record"].encode() + b"\n")["seq"] == 7
    assert proof["sequence"] == 7


def test_a_checkpoint_that_was_kept_elsewhere_serves_as_well(log: Path, tmp_path: Path) -> None:
    """A forged one does not."""
    note = audit("checkpoint", log).stdout
    (tmp_path / "note").write_text(note)
    assert audit("prove", log, "7", "--checkpoint", tmp_path / "note").code == 0
    (tmp_path / "note").write_text(note.replace(note.split("\n")[2], "A" * 43 + "="))
    done = audit("prove", log, "7", "--checkpoint", tmp_path / "note")
    assert done.code == 2
    assert "not those of the checkpoint" in done.stderr


def test_the_newest_checkpoint_is_printed_as_it_is_kept(log: Path) -> None:
    """Byte for byte, for a file elsewhere."""
    printed = audit("checkpoint", log).stdout
    (note,) = parse_notes(printed)
    assert (note.checkpoint.size, note.text) == (14, printed)


def test_a_log_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    """One that was just begun, or cut to its first record."""
    log = AuditLog(tmp_path / "log", FAST)
    log.close_now()
    segment = tmp_path / "log" / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().splitlines(keepends=True)[0])
    done = audit("checkpoint", tmp_path / "log")
    assert done.code == 2
    assert "holds no checkpoint" in done.stderr
