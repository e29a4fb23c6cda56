"""amplifier audit serve: the writer as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from amplifier_audit import RemoteLog, create_key, load_verifier, verify
from tests.hooks.cli.program import PROGRAM, invoke


async def test_it_writes_the_trails_of_others_until_it_is_told_to_end(tmp_path: Path) -> None:
    """With a key and anchors that only it has; a signal closes every trail."""
    key, me = tmp_path / "key", os.geteuid()
    public = create_key(key).public
    tmp_path.chmod(0o755)
    options = {"--socket": tmp_path / "socket", "--key": key, "--anchor": tmp_path / "anchors"}
    given = [str(text) for option in options.items() for text in option]
    command = [*PROGRAM, "audit", "serve", str(tmp_path / "trails"), "--commitments", *given]
    command += ["--user", str(me)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == f"Listening on {tmp_path / 'socket'}\n"
        log = await RemoteLog.open(tmp_path / "socket", "ann", server_user=me)
        await log.commit(log.append("tool_started", {"input": "x" * 50}, session="ann"))
        program.send_signal(signal.SIGTERM)
        out, err = program.communicate(timeout=30)
    finally:
        program.kill()
        program.wait()
    assert (program.returncode, out) == (0, "All trails are closed.\n")
    assert "serves its own user" in err
    path = tmp_path / "trails" / str(me) / "ann"
    assert b"xxxxx" not in (path / "00000000.jsonl").read_bytes()
    report = verify(path, key=load_verifier(public), session="ann")
    assert (report.verdict, report.unproven) == ("consistent", 0)
    done = invoke("audit", "verify", path, "--key", public, "--anchor", tmp_path / "anchors")
    assert done.code == 0, done.output


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "Missing option"),
        (("--user", "nobody-at-all"), "no user 'nobody-at-all'"),
        (("--user", "12345", "--key", "none"), "Cannot read the key"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    """Exit code 2."""
    done = invoke("audit", "serve", tmp_path / "t", "--socket", tmp_path / "s", *arguments)
    assert done.code == 2
    assert word in done.stderr


def test_a_place_where_it_cannot_listen_is_one_sentence(tmp_path: Path) -> None:
    """With what would do."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    socket = tmp_path / "open" / "socket"
    done = invoke("audit", "serve", tmp_path / "t", "--socket", socket, "--user", "12345")
    assert done.code == 2
    assert "chmod go-w" in done.stderr
