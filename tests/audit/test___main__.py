"""`python -m amplifier_audit verify LOG`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_audit.__main__ import main
from amplifier_audit.anchors import anchor_to_file
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import load_position
from tests.audit.support import FAST, OTHER, SIGNER, first_segment, write_log


@pytest.fixture
async def log(tmp_path: Path) -> Path:
    """A signed log, with anchors elsewhere."""
    anchors = (anchor_to_file(tmp_path / "anchors"),)
    await write_log(tmp_path / "log", 10, FAST, signer=SIGNER, anchors=anchors)
    return tmp_path / "log"


def run(*arguments: object) -> int:
    return main(["verify", *map(str, arguments)])


def damage(log: Path) -> None:
    lines = first_segment(log).read_bytes().splitlines(keepends=True)
    lines[5] = lines[5].replace(b"continue", b"CONTINUE")
    first_segment(log).write_bytes(b"".join(lines))


def test_each_verdict_has_its_exit_code_and_its_words(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Proven 0, consistent 3, recovered 4, tampered 5."""
    assert run(log, "--anchor", tmp_path / "anchors", "--key", SIGNER.public) == 0
    assert capsys.readouterr().out.startswith("PROVEN: the first 12 records")
    assert run(log) == 3
    assert capsys.readouterr().out.startswith("CONSISTENT, END NOT PROVEN")
    with first_segment(log).open("ab") as file:
        file.write(b"torn")
    assert run(log) == 4
    assert "torn tail at record 13" in capsys.readouterr().out
    damage(log)
    assert run(log) == 5
    assert "edit at record 5 (00000000.jsonl, byte " in capsys.readouterr().out


def test_as_json_it_is_one_line_for_programs(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the same exit code."""
    assert run(log, "--json") == 3
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out)["exit_code"] == 3


def test_a_key_may_be_text_or_a_file_and_another_one_is_tampering(
    log: Path, tmp_path: Path
) -> None:
    """Every checkpoint must be signed by it."""
    (tmp_path / "key").write_text(SIGNER.public + "\n")
    assert run(log, "--key", tmp_path / "key") == 3
    assert run(log, "--key", OTHER.public) == 5


def test_several_files_of_anchors_may_be_named(log: Path, tmp_path: Path) -> None:
    """Each must hold a checkpoint."""
    (tmp_path / "empty").touch()
    assert run(log, "--anchor", tmp_path / "anchors", "--anchor", tmp_path / "anchors") == 0
    assert run(log, "--anchor", tmp_path / "anchors", "--anchor", tmp_path / "empty") == 2


async def test_a_saved_position_lets_the_next_run_go_on(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only what is new is read."""
    assert run(log, "--save", tmp_path / "position") == 3
    size = load_position(tmp_path / "position").head.size
    await write_log(log, 3, FAST, signer=SIGNER)
    capsys.readouterr()
    assert run(log, "--since", tmp_path / "position", "--json") == 3
    assert json.loads(capsys.readouterr().out)["first"] == size


def test_no_position_of_a_log_that_was_tampered_with_is_saved(log: Path, tmp_path: Path) -> None:
    """Nobody goes on from there."""
    damage(log)
    assert run(log, "--save", tmp_path / "position") == 5
    assert not (tmp_path / "position").exists()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["none"], "There is no log at none"),
        (["LOG", "--key", "nonsense"], "Cannot read the key"),
        (["LOG", "--anchor", "none"], "Cannot read none"),
        (["LOG", "--since", "none"], "Cannot read none"),
        (["LOG", "--save", "."], "Cannot write ."),
        (["x" * 5000], "File name too long: x"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_exit_code_2(
    log: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    """On standard error, without a traceback."""
    assert run(*(log if one == "LOG" else one for one in arguments)) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"Error: {word}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("arguments", [[], ["verify"], ["verify", "a", "b"], ["explode"]])
def test_wrong_arguments_end_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """And the usage is shown."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: python -m amplifier_audit" in capsys.readouterr().err


def test_it_runs_as_a_program(log: Path) -> None:
    """The exit code reaches the shell."""
    done = subprocess.run(
        [sys.executable, "-m", "amplifier_audit", "verify", str(log)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("CONSISTENT")


def test_a_reader_that_has_gone_is_no_error(log: Path) -> None:
    """`| head` ends it quietly, and the exit code is still the verdict."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "amplifier_audit", "verify", str(log)]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (3, b"")


async def test_several_segments_go_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many as are wanted; the verdict is the same."""
    await write_log(tmp_path / "log", 40, AuditSettings(segment_bytes=4000), signer=SIGNER)
    told = []
    for jobs in ("1", "3"):
        assert run(tmp_path / "log", "--key", SIGNER.public, "--jobs", jobs) == 3
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


@pytest.mark.parametrize("jobs", ["0", "-1", "x", "1.5", "\u0662"])
def test_what_is_no_number_of_jobs_is_refused(
    log: Path, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a word about it."""
    with pytest.raises(SystemExit) as ended:
        run(log, f"--jobs={jobs}")
    assert ended.value.code == 2
    assert "a number from 1 on" in capsys.readouterr().err
