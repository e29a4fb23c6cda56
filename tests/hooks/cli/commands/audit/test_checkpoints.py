"""Keys, checkpoints, proofs and redactions."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import AuditLog, AuditSettings, load_signer, parse_notes
from amplifier_audit.merkle import compute_inclusion_root, hash_leaf
from amplifier_audit.record import parse_record
from tests.audit.support import FAST
from tests.hooks.cli.program import Outcome, invoke


def test_the_public_key_is_printed_and_the_private_one_kept(tmp_path: Path) -> None:
    """A file for its owner alone; what is printed verifies what it signs."""
    path = tmp_path / "key"
    done = invoke("audit", "create-key", path, "--name", "ours")
    assert done.code == 0
    assert done.stdout == load_signer(path).public + "\n"
    assert done.stdout.startswith("ours+")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    """A log that was signed with it could not be continued."""
    path = tmp_path / "key"
    invoke("audit", "create-key", path)
    before = path.read_bytes()
    done = invoke("audit", "create-key", path)
    assert done.code == 2
    assert str(path) in done.stderr
    assert path.read_bytes() == before


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


APART = AuditSettings(values="committed")


def read_text(log: Path, *options: str) -> Any:
    record = audit("show", log, "--type", "user_message", "--json", *options).stdout
    return json.loads(record)["body"]["text"]


async def test_a_value_is_deleted_and_the_trail_says_by_whom(tmp_path: Path) -> None:
    """A signed log wants its key; afterwards it still verifies."""
    key, log = tmp_path / "key", tmp_path / "log"
    audit("create-key", key)
    trail = await AuditLog.open(log, APART, signer=load_signer(key))
    await trail.commit(trail.append("user_message", {"text": "very secret"}))
    await trail.close()
    assert read_text(log, "--reveal") == "very secret"
    commitment = read_text(log)["$commitment"]
    words = ("redact", log, commitment, "--by", "ann", "--reason", "r")
    refused = await asyncio.to_thread(audit, *words)
    assert refused.code == 2
    assert "is signed with" in refused.stderr
    done = await asyncio.to_thread(audit, *words, "--key-file", key)
    assert done.code == 0, done.output
    assert done.stdout.startswith("Redacted; record ")
    assert read_text(log, "--reveal")["redacted"] is True
    assert audit("verify", log, "--key", key).code == 3


async def test_a_log_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    """One writer at a time."""
    trail = await AuditLog.open(tmp_path / "log", APART)
    words = ("redact", tmp_path / "log", "x", "--by", "a", "--reason", "b")
    done = await asyncio.to_thread(audit, *words)
    assert done.code == 2
    assert "Another writer" in done.stderr
    await trail.close()


@pytest.mark.parametrize("letter", ["U", "h", "-"])
async def test_a_commitment_may_begin_with_a_dash(tmp_path: Path, letter: str) -> None:
    """One in 64 does; it is no option, wherever it stands."""
    trail = await AuditLog.open(tmp_path / "log", APART)
    await trail.close()
    commitment = f"-{letter}{'x' * 41}"
    words = ("redact", tmp_path / "log", commitment, "--by", "ann", "--reason", "r")
    done = await asyncio.to_thread(audit, *words)
    assert done.code != 0
    assert commitment in done.stderr
    assert "option" not in done.stderr
