"""The writer behind a socket: who is let in, and what lands on its disk."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path

import pytest

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.log_directory import open_log
from amplifier_audit.messages import encode_message
from amplifier_audit.reader import read_records
from amplifier_audit.server import AuditServer
from amplifier_audit.verification import verify
from tests.audit.server.support import ME, connect, find_log, run_server
from tests.audit.support import VERIFIER, read_bodies, read_types


async def test_what_a_session_appends_is_signed_by_the_writer(tmp_path: Path) -> None:
    """In the session's own log, with the process and user that the kernel names."""
    async with run_server(tmp_path) as path:
        log = await connect(path)
        for number in range(20):
            sequence = log.append("tool_started", {"n": number}, session="ann", turn=1)
            await log.commit(sequence)
        assert log.durable == 20
        await log.close()
    report = verify(find_log(tmp_path), key=VERIFIER, session="ann")
    assert (report.verdict, report.unproven, report.name) == ("consistent", 0, "ann")
    bodies = read_bodies(find_log(tmp_path), "tool_started")
    assert [body["n"] for body in bodies] == list(range(20))
    (connected,) = read_bodies(find_log(tmp_path), "writer_connected")
    assert connected["peer"] == {"process": os.getpid(), "user": ME, "group": os.getegid()}


async def test_the_files_are_for_the_writer_only_and_the_socket_is_for_all(tmp_path: Path) -> None:
    """Who may use it, the kernel's word decides, not the mode of a file."""
    async with run_server(tmp_path) as path:
        log = await connect(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
        assert stat.S_IMODE((tmp_path / "trails").stat().st_mode) == 0o700
        await log.close()
    assert not path.exists()


async def test_a_user_who_is_not_served_is_refused(tmp_path: Path) -> None:
    """Before anything it says is read."""
    async with run_server(tmp_path, users=[ME + 1]) as path:
        with pytest.raises(AuditUnavailable, match=f"user {ME} has no trail here"):
            await connect(path)
    assert list((tmp_path / "trails").iterdir()) == []


async def test_two_processes_do_not_write_one_trail(tmp_path: Path) -> None:
    """The second is told who does; another session is no matter."""
    async with run_server(tmp_path) as path:
        log = await connect(path)
        with pytest.raises(AuditUnavailable, match=f"process {os.getpid()} writes the trail"):
            await connect(path)
        other = await connect(path, "bob")
        await other.close()
        await log.close()
        again = await connect(path)
        await again.close()
    assert read_types(find_log(tmp_path)).count("writer_connected") == 2


async def test_a_session_cannot_say_what_only_the_log_can(tmp_path: Path) -> None:
    """Its own types are marked as foreign."""
    async with run_server(tmp_path) as path:
        log = await connect(path)
        for type in ("segment_removed", "writer_connected", "broken", "recovered"):
            log.append(type, {"segment": 0, "client": "x"})
        await log.close()
    types = read_types(find_log(tmp_path))
    assert {"x_segment_removed", "x_writer_connected", "x_broken", "x_recovered"} <= set(types)
    assert verify(find_log(tmp_path), key=VERIFIER).verdict == "consistent"


@pytest.mark.parametrize(
    "line",
    [
        b"hello\n",
        b"[]\n",
        b"{}\n",
        encode_message(hello=2, session="s", client="c", sent=0),
        encode_message(hello=1, session=5, client="c", sent=0),
        encode_message(hello=1, session="s", client="c" * 9999, sent=0),
        encode_message(hello=1, session="s", client="c", sent=-1),
        encode_message(append=0, type="t", body={}),
    ],
)
async def test_a_hello_that_is_none_is_refused(tmp_path: Path, line: bytes) -> None:
    """With a sentence, and the writer serves on."""
    async with run_server(tmp_path) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(line)
        assert (await reader.readline()).startswith(b'{"refused":')
        assert await reader.read() == b""
        writer.close()
        log = await connect(path)
        await log.close()


async def test_a_socket_that_others_could_replace_is_not_made(tmp_path: Path) -> None:
    """Nor one in the place of a file."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    server = AuditServer(tmp_path / "trails", [ME])
    with pytest.raises(AuditUnavailable, match="Others may write"):
        await server.run(folder / "socket")
    folder.chmod(0o755)
    (folder / "socket").write_text("mine")
    with pytest.raises(AuditUnavailable, match="exists and is not a socket"):
        await server.run(folder / "socket")
    with pytest.raises(AuditUnavailable, match="Cannot listen"):
        await server.run(folder / ("x" * 200))


async def test_one_writer_serves_a_folder(tmp_path: Path) -> None:
    """A second one would push it from its socket; what a killed one left is taken over."""
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(tmp_path / "socket"))
    stale.close()
    async with run_server(tmp_path) as path:
        with pytest.raises(AuditUnavailable, match="Another writer has the log"):
            await AuditServer(tmp_path / "trails", [ME]).run(path)
        log = await connect(path)
        await log.close()


async def test_a_writer_that_ends_closes_the_trails_of_all_sessions(tmp_path: Path) -> None:
    """With a signed checkpoint, as their sessions would have."""
    async with run_server(tmp_path) as path:
        logs = [await connect(path, name) for name in ("ann", "bob")]
        for log in logs:
            await log.commit(log.append("tool_started", {}))
    for name in ("ann", "bob"):
        assert verify(find_log(tmp_path, name), key=VERIFIER).unproven == 0
        records = list(read_records(open_log(find_log(tmp_path, name))))
        assert [r["type"] for r in records if r["type"] == "tool_started"] == ["tool_started"]
