"""A trail's end is proven against what a witness has seen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from amplifier_audit.errors import WitnessUnavailable
from amplifier_audit.log_directory import open_remains
from amplifier_audit.verification import LogVerification
from amplifier_audit.witness import Witness, WitnessSender, read_witnesses
from tests.audit.support import first_segment, write_log
from tests.support.witness_server import WitnessServer, run_witness


async def write_witnessed(server: WitnessServer, log: Path, count: int = 20) -> None:
    sender = WitnessSender(Witness(server.url), log)
    await write_log(log, count, name=log.name, anchors=(sender,))


def judge(server: WitnessServer, log: Path) -> tuple[str, str]:
    files = open_remains(log)
    anchors = read_witnesses([Witness(server.url)], files, log.name)
    report = LogVerification(files, anchors=anchors, name=log.name).run()
    return report.verdict, report.finding.message if report.finding else ""


async def test_a_whole_trail_is_proven(tmp_path: Path) -> None:
    """The witness has its last checkpoint."""
    with run_witness(WitnessServer()) as server:
        await write_witnessed(server, tmp_path / "s1")
        assert judge(server, tmp_path / "s1") == ("proven", "")


async def test_a_trail_that_was_cut_is_found(tmp_path: Path) -> None:
    """Also if its state was taken away with its end."""
    with run_witness(WitnessServer()) as server:
        await write_witnessed(server, tmp_path / "s1")
        segment = first_segment(tmp_path / "s1")
        segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:-8]))
        for path in (tmp_path / "s1").iterdir():
            if path != segment:
                path.unlink() if path.is_file() else shutil.rmtree(path)
        assert judge(server, tmp_path / "s1")[0] == "tampered"


async def test_a_trail_that_was_replaced_by_another_is_found(tmp_path: Path) -> None:
    """A fresh log in the same folder has another id; the witness still knows the name."""
    with run_witness(WitnessServer()) as server:
        await write_witnessed(server, tmp_path / "s1")
        shutil.rmtree(tmp_path / "s1")
        await write_log(tmp_path / "s1", 20, name="s1")
        assert judge(server, tmp_path / "s1")[0] == "tampered"
        await write_witnessed(server, tmp_path / "s1", 5)
        verdict, why = judge(server, tmp_path / "s1")
        assert verdict == "consistent"
        assert "know another log of 's1'" in why


async def test_a_trail_that_the_witness_never_saw_is_not_proven(tmp_path: Path) -> None:
    """Nor is it silently verified without the witness that was named."""
    await write_log(tmp_path / "s1", 5, name="s1")
    unseen = pytest.raises(WitnessUnavailable, match="has no checkpoint of this log")
    with run_witness(WitnessServer()) as server, unseen:
        judge(server, tmp_path / "s1")
