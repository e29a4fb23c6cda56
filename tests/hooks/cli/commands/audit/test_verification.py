"""amplifier audit verify: four verdicts, four exit codes."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_audit import AuditLog
from amplifier_audit.record import Chain
from tests.audit.support import FAST, OTHER, SIGNER, feed_lines, make_source, write_log
from tests.hooks.cli.program import Outcome, invoke


def verify(*arguments: object) -> Outcome:
    return invoke("audit", "verify", *arguments)


def test_proven_is_said_only_with_an_anchor(log: Path, tmp_path: Path) -> None:
    """0: what was kept elsewhere speaks for the log."""
    done = verify(log, "--key", SIGNER.public, "--anchor", tmp_path / "anchors")
    assert done.code == 0, done.output
    assert done.stdout.startswith("PROVEN: the first 14 records are proven by an anchor")
    told = json.loads(verify(log, "--anchor", tmp_path / "anchors", "--json").stdout)
    assert (told["verdict"], told["proven_to"], told["finding"]) == ("proven", 14, None)
    assert told["exit_code"] == 0


def test_without_an_anchor_it_never_says_ok(log: Path) -> None:
    """3: consistent, and the end is not proven."""
    done = verify(log)
    assert done.code == 3
    assert "END NOT PROVEN" in done.stdout
    assert "OK" not in done.stdout


def test_a_crash_is_told_apart_from_a_forgery(log: Path) -> None:
    """4: a last line that was never finished."""
    with (log / "00000000.jsonl").open("ab") as file:
        file.write(b'{"v":1,"torn')
    done = verify(log)
    assert done.code == 4
    assert "torn tail at record 15 (00000000.jsonl, byte" in done.stdout


def test_the_first_bad_record_and_byte_are_named(log: Path) -> None:
    """5: somebody changed a record."""
    lines = (log / "00000000.jsonl").read_bytes().splitlines(keepends=True)
    lines[5] = lines[5].replace(b"guard", b"GUARD")
    (log / "00000000.jsonl").write_bytes(b"".join(lines))
    done = verify(log)
    assert done.code == 5
    byte = sum(map(len, lines[:5]))
    assert f"edit at record 5 (00000000.jsonl, byte {byte})" in done.stdout


def test_a_cut_is_named_with_its_byte(log: Path) -> None:
    """5: the place where the rest should be."""
    segment = log / "00000000.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:4]))
    done = verify(log)
    assert done.code == 5
    assert f"at record 4 (00000000.jsonl, byte {segment.stat().st_size})" in done.stdout
    assert "None" not in done.stdout


def test_it_goes_on_from_a_saved_position(log: Path, tmp_path: Path) -> None:
    """What was verified is not read again; a log that was cut below it is found out."""
    saved = tmp_path / "saved.json"
    assert verify(log, "--save", saved).code == 3
    AuditLog(log, FAST, signer=SIGNER).close_now()
    told = json.loads(verify(log, "--since", saved, "--json").stdout)
    assert (told["verdict"], told["first"], told["size"]) == ("consistent", 15, 17)
    os.truncate(log / "00000000.jsonl", 1000)
    done = verify(log, "--since", saved)
    assert done.code == 5
    assert "cut below" in done.stdout
    (log / "00000000.jsonl").rename(log / "00000005.jsonl")
    assert verify(log, "--since", saved).code == 2


def test_a_position_in_a_forged_log_is_not_saved(log: Path, tmp_path: Path) -> None:
    """The next verification must not start behind the forgery."""
    segment = log / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"guard", b"GUARD"))
    assert verify(log, "--save", tmp_path / "saved.json").code == 5
    assert not (tmp_path / "saved.json").exists()


def test_another_key_and_another_log_are_refused(log: Path, tmp_path: Path) -> None:
    """5: signed by somebody else, or a checkpoint of something else."""
    assert verify(log, "--key", OTHER.public).code == 5
    (tmp_path / "other").write_text("amplifier.audit/ab\n3\n" + "A" * 43 + "=\n")
    done = verify(log, "--anchor", tmp_path / "other")
    assert done.code == 5
    assert "wrong log" in done.stdout


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (None, "holds no audit log"),
        (b"hello world\n", "is not an audit log"),
        (b"\x7fELF\x00\x01\x02", "is not an audit log"),
        (b"x" * 3_000_000, "is not an audit log"),
        (b"", "no records"),
    ],
)
def test_what_is_no_log_is_one_sentence_and_exit_code_2(
    tmp_path: Path, content: bytes | None, word: str
) -> None:
    """An empty folder, a foreign, a binary, a large or an empty file."""
    path = tmp_path / "thing"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    done = verify(path)
    assert done.code == 2
    assert word in done.stderr
    assert done.output.count("\n") == 1


def test_gigabytes_on_one_line_need_no_memory(tmp_path: Path) -> None:
    """5, after as much as a record may have."""
    path = tmp_path / "huge.jsonl"
    path.write_bytes(b'{"v":1,"log":"')
    os.truncate(path, 3_000_000_000)
    start = time.process_time()
    done = verify(path)
    assert done.code == 5
    assert "more than 65536 bytes" in done.stdout
    assert time.process_time() - start < 5


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_missing_permission_is_one_sentence(log: Path) -> None:
    """2: it cannot be read, which says nothing about it."""
    (log / "00000000.jsonl").chmod(0)
    assert verify(log).code == 2


def test_a_log_whose_segments_are_gone_is_tampered_with(log: Path) -> None:
    """5: what was acknowledged is not there."""
    for segment in log.glob("*.jsonl"):
        segment.unlink()
    done = verify(log)
    assert done.code == 5
    assert "all segments are gone; its writer acknowledged 15 records" in done.stdout


def test_records_that_are_not_proven_are_named_and_can_spoil_the_exit_code(
    log: Path, tmp_path: Path
) -> None:
    """0, or 3 with --complete, which is what an unattended check wants."""
    proofs = ("--key", SIGNER.public, "--anchor", tmp_path / "anchors")
    assert verify(log, *proofs, "--complete").code == 0
    last = (log / "00000000.jsonl").read_bytes().splitlines(keepends=True)
    head = feed_lines(last).head
    with (log / "00000000.jsonl").open("ab") as file:
        chain = Chain(json.loads(last[0])["log"], head)
        file.write(chain.extend(make_source("tool_started"), b"{}"))
    done = verify(log, *proofs)
    assert (done.code, "the last 1 are NOT PROVEN" in done.stdout) == (0, True)
    told = json.loads(verify(log, *proofs, "--complete", "--json").stdout)
    assert (told["verdict"], told["unproven"], told["exit_code"]) == ("proven", 1, 3)
    assert verify(log, *proofs, "--complete").code == 3


async def test_the_trail_must_be_that_of_the_session_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5 when it is somebody else's; in their usual place trails are known by their folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    home = tmp_path / "data" / "amplifier" / "audit"
    await write_log(home / "ann", 3, name="ann")
    assert verify(home / "ann", "--session", "ann").code == 3
    done = verify(home / "ann", "--session", "bob")
    assert (done.code, "this is the trail of 'ann', not of 'bob'" in done.stdout) == (5, True)
    (home / "ann").rename(home / "bob")
    assert verify("bob").code == 5
    assert verify(home / "bob").code == 5
    (home / "bob").rename(tmp_path / "copy")
    done = verify(tmp_path / "copy")
    assert (done.code, "say so with --session ann" in done.stdout) == (3, True)


def test_a_writer_that_gave_up_is_reported(log: Path) -> None:
    """4, with its reason."""
    (log / "failed").write_text("00000000.jsonl is gone")
    done = verify(log)
    assert done.code == 4
    assert "the writer gave up: 00000000.jsonl is gone" in done.stdout


async def test_several_segments_go_at_a_time(tmp_path: Path) -> None:
    """As many as are wanted; the verdict is the same."""
    path = tmp_path / "rotated"
    await write_log(path, 40, replace(FAST, segment_bytes=4000), signer=SIGNER)
    one, three = (verify(path, "--key", SIGNER.public, "--jobs", jobs) for jobs in (1, 3))
    assert (three.code, three.stdout) == (one.code, one.stdout)
    assert one.code == 3
    assert verify(path, "--jobs", 0).code == 2
