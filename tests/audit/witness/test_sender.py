"""Checkpoints reach a witness with the proof that nothing before them has changed."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from amplifier_audit.anchor_files import find_log_id
from amplifier_audit.checkpoint import Note
from amplifier_audit.log_directory import open_log
from amplifier_audit.settings import AuditSettings
from amplifier_audit.witness import Witness, WitnessSender
from tests.audit.support import make_anchor, make_lines, write_lines, write_log
from tests.support.witness_server import WitnessServer, run_witness

OFTEN = AuditSettings(gather_seconds=0.001, checkpoint_every=7)


def get_sizes(server: WitnessServer) -> list[int]:
    (notes,) = server.notes.values()
    return [note.checkpoint.size for note in notes]


async def test_every_checkpoint_arrives_also_over_segments_and_restarts(tmp_path: Path) -> None:
    """Another process goes on from what the witness has."""
    small = AuditSettings(gather_seconds=0.001, checkpoint_every=7, segment_bytes=3000)
    log = tmp_path / "log"
    with run_witness(WitnessServer()) as server:
        for _ in range(3):
            sender = WitnessSender(Witness(server.url), log)
            await write_log(log, 40, small, anchors=(sender,))
    assert len(open_log(log).paths) > 2
    sizes = get_sizes(server)
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == sum(path.read_bytes().count(b"\n") for path in open_log(log).paths) - 1
    assert len(sizes) >= 9


async def test_a_witness_that_was_away_gets_the_next_one_with_a_longer_proof(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning, pauses that grow, and nothing is lost that the witness could check."""
    clock = itertools.count(0, 100)
    lines = make_lines(120)
    write_lines(tmp_path / "log", lines)
    server = WitnessServer()
    with run_witness(server):
        port = int(server.url.rpartition(":")[2])
        sender = WitnessSender(Witness(server.url), tmp_path / "log", clock=lambda: next(clock))
        sender(make_anchor(lines, 20))
    for size in (40, 60, 80):
        sender(make_anchor(lines, size))
    assert get_sizes(server) == [20]
    assert len([one for one in caplog.records if "does not answer" in one.message]) == 1
    with run_witness(server, port):
        sender(make_anchor(lines, 100))
        sender(make_anchor(lines, 90))
        sender(make_anchor(lines, 120))
    assert get_sizes(server) == [20, 100, 120]


def test_a_witness_that_does_not_answer_is_not_asked_at_every_checkpoint(tmp_path: Path) -> None:
    """The pause keeps a session from waiting for a dead server again and again."""
    times = iter((0.0, 0.0, 0.5, 0.9, 1.1, 1.1, 2.0, 3.0, 3.2, 3.2))
    lines = make_lines(60)
    write_lines(tmp_path / "log", lines)
    server = WitnessServer()
    with run_witness(server):
        server.answer = (503, b"{}")
        sender = WitnessSender(Witness(server.url), tmp_path / "log", clock=lambda: next(times))
        for _ in range(7):
            sender(make_anchor(lines, 20))
    assert len(server.seen) == 3


def tell(alarms: list[str], server: WitnessServer, log: Path, *notes: Note) -> None:
    sender = WitnessSender(Witness(server.url), log, alarms.append)
    for note in notes:
        sender(note)


def test_a_rewritten_or_shortened_log_is_an_alarm(tmp_path: Path) -> None:
    """The sender notices it before the witness has to refuse it, and stops."""
    lines, server = make_lines(100, log="ab" * 16), WitnessServer()
    alarms: list[str] = []
    forged = make_lines(100, log="ab" * 16)  # the same log id, other times
    with run_witness(server):
        write_lines(tmp_path / "log", lines)
        tell(alarms, server, tmp_path / "log", make_anchor(lines, 50))
        assert alarms == []
        write_lines(tmp_path / "log", forged)
        tell(alarms, server, tmp_path / "log", make_anchor(forged, 80), make_anchor(forged, 90))
        write_lines(tmp_path / "log", lines[:40])
        tell(alarms, server, tmp_path / "log", make_anchor(lines, 40))
    assert get_sizes(server) == [50]
    assert "another history of the first 50 records" in alarms[0]
    assert "knows 50 records of this log, which has 0 to 40" in alarms[1]
    assert len(alarms) == 2
    assert find_log_id(open_log(tmp_path / "log")) == "ab" * 16


def test_a_refusal_of_the_witness_is_an_alarm(tmp_path: Path) -> None:
    """Whatever its reason: the person hears of it."""
    lines, server = make_lines(60), WitnessServer()
    alarms: list[str] = []
    write_lines(tmp_path / "log", lines)
    with run_witness(server):
        sender = WitnessSender(Witness(server.url), tmp_path / "log", alarms.append)
        sender(make_anchor(lines, 20))
        server.answer = (409, b'{"error": {"message": "another key"}}')
        sender(make_anchor(lines, 40))
        sender(make_anchor(lines, 60))
    assert len(alarms) == 1
    assert "another key" in alarms[0]
