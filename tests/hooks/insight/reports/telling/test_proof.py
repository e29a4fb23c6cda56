"""What the trail proves, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import AuditLog, anchor_to_file, create_key, load_verifier
from amplifier_hooks.insight.reports import Evidence
from amplifier_hooks.insight.reports.model import check_trail
from amplifier_hooks.insight.reports.telling.proof import describe_verdict, tell_proof
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import gather, write_trail

pytest.importorskip("cryptography")


def tell(path: Path, evidence: Evidence | None = None, key: str = "") -> str:
    session = gather()
    session.proof, session.key = check_trail(path, evidence or Evidence()), key
    return read_words(tell_proof(session))


def test_a_trail_without_evidence_is_consistent_and_not_more(tmp_path: Path) -> None:
    """Neither signed nor anchored; the command to check it is there."""
    path = write_trail(tmp_path)
    words = tell(path)
    assert "The trail is consistent, not proven." in words
    assert "Not anchored" in words
    assert "The trail is not signed." in words
    assert f"amplifier audit verify {path}" in words
    assert f"python -m amplifier_audit verify {path}" in words


def test_a_signed_and_anchored_trail_is_proven(tmp_path: Path) -> None:
    """The report says how far, and how to check it with the same evidence."""
    signer = create_key(tmp_path / "audit.key")
    anchor = tmp_path / "checkpoints"
    log = AuditLog(tmp_path / "log", name="log", signer=signer, anchors=(anchor_to_file(anchor),))
    log.append("error", {"what": "x"})
    log.close_now()
    evidence = Evidence((str(anchor),), load_verifier(signer.public), signer.public)
    words = tell(tmp_path / "log", evidence, key=signer.public)
    assert "The trail is proven." in words
    assert "agree with a checkpoint that was kept outside of the trail" in words
    assert "are signed with the key" in words
    assert f"--key {signer.public} --anchor {anchor}" in words
    assert "signatures were not checked" in tell(tmp_path / "log", key=signer.public)


def test_a_changed_trail_says_exactly_where(tmp_path: Path) -> None:
    """The record, the file and the byte; the report warns of itself."""
    path = write_trail(tmp_path)
    segment = path / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"rm 0", b"rm 1"))
    words = tell(path)
    assert "do not rely on this report" in words
    assert "at record 3 (00000000.jsonl, byte " in words


def test_what_cannot_be_verified_is_not_called_good(tmp_path: Path) -> None:
    """The verdict has the reason."""
    proof = check_trail(tmp_path / "none", Evidence())
    words = "".join(one if isinstance(one, str) else one.text for one in describe_verdict(proof))
    assert words.startswith("The trail could not be verified.")
    assert "none" in words
