"""The trail as a session sees it whose writer is another process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.remote_log import RemoteLog
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import verify
from amplifier_core.trail import AuditSink
from tests.audit.server.support import ME, connect, find_log, run_server
from tests.audit.support import VERIFIER, read_bodies


async def test_it_is_a_sink_like_any_other(tmp_path: Path) -> None:
    """What the kernel asks of a trail."""
    async with run_server(tmp_path) as path:
        log = await connect(path)
        assert isinstance(log, AuditSink)
        assert (log.level, log.on_failure) == ("normal", "deny")
        assert [log.append("dispatch", {"n": n}) for n in range(3)] == [0, 1, 2]
        await log.commit()
        assert log.durable == 3
        await log.commit(1)
        with pytest.raises(AuditError, match="There is no record 9"):
            await log.commit(9)
        await log.close()
        await log.close()
        assert log.failure is None
        with pytest.raises(AuditUnavailable, match="it is closed"):
            log.append("dispatch", {})


async def test_a_broken_connection_is_made_again_and_nothing_is_lost_or_doubled(
    tmp_path: Path,
) -> None:
    """Also by another writer process on the same folder, after several breaks."""
    marks = []
    async with run_server(tmp_path) as path:
        log = await connect(path)
        await log.commit(log.append("tool_started", {"mark": "first"}))
    for turn in range(3):
        # Nobody listens now: these wait.
        marks += [f"{turn} {n}" for n in range(50)]
        for mark in marks[-50:]:
            log.append("tool_started", {"mark": mark})
        async with run_server(tmp_path):
            await log.commit()
    async with run_server(tmp_path):
        await log.close()
    found = [body["mark"] for body in read_bodies(find_log(tmp_path), "tool_started")]
    assert found == ["first", *marks]
    assert verify(find_log(tmp_path), key=VERIFIER).verdict == "consistent"


async def test_a_writer_that_does_not_come_back_is_a_failure_and_final(tmp_path: Path) -> None:
    """Whoever waits is told, one alarm is raised, and calls without approval end as well."""
    alarms: list[str] = []
    async with run_server(tmp_path) as path:
        settings = AuditSettings(sync_timeout=0.3)
        log = await RemoteLog.open(path, "ann", settings, server_user=ME, alarm=alarms.append)
        assert log.find_loss() is None
    with pytest.raises(AuditUnavailable):
        await log.commit(log.append("approval_decided", {}))
    while log.failure is None:
        await asyncio.sleep(0.01)
    assert "the audit writer is gone" in (log.find_loss() or "")
    async with run_server(tmp_path):
        with pytest.raises(AuditUnavailable, match="takes no records"):
            log.append("dispatch", {})
        with pytest.raises(AuditUnavailable, match="takes no records"):
            await log.commit(0)
    await log.close()
    assert len(alarms) == 1


async def test_a_writer_that_has_lost_what_it_acknowledged_is_not_gone_on_with(
    tmp_path: Path,
) -> None:
    """Somebody took the files away meanwhile."""
    async with run_server(tmp_path) as path:
        log = await RemoteLog.open(path, "ann", AuditSettings(sync_timeout=1.0), server_user=ME)
        await log.commit(log.append("tool_started", {}))
    find_log(tmp_path).rename(tmp_path / "elsewhere")
    async with run_server(tmp_path):
        with pytest.raises(AuditUnavailable):
            await log.commit(log.append("tool_started", {}))
        while log.failure is None:
            await asyncio.sleep(0.01)
    assert "has 0 records of this session" in (log.failure or "")
    await log.close()


async def test_a_writer_of_our_own_user_is_an_impostor_unless_it_was_named(tmp_path: Path) -> None:
    """The agent could have started one in its place."""
    async with run_server(tmp_path) as path:
        with pytest.raises(AuditUnavailable, match="runs as the same user"):
            await RemoteLog.open(path, "ann")
        with pytest.raises(AuditUnavailable, match=f"runs as user {ME}, not {ME + 1}"):
            await RemoteLog.open(path, "ann", server_user=ME + 1)


async def test_where_nobody_listens_a_session_does_not_begin(tmp_path: Path) -> None:
    """With the path that was tried."""
    with pytest.raises(AuditUnavailable, match="No audit writer at"):
        await RemoteLog.open(tmp_path / "none", "ann")


async def test_a_disk_that_fails_behind_the_writer_fails_here(tmp_path: Path) -> None:
    """Nothing is acknowledged that is not there."""
    async with run_server(tmp_path) as path:
        log = await connect(path)
        (find_log(tmp_path) / "00000000.jsonl").rename(tmp_path / "elsewhere")
        with pytest.raises(AuditUnavailable, match="is gone"):
            await log.commit(log.append("approval_decided", {}))
        assert log.durable == 0
        await log.close()


async def test_a_slow_writer_is_not_waited_for_with_endless_memory(tmp_path: Path) -> None:
    """Beyond the limit `append` refuses."""
    async with run_server(tmp_path) as path:
        settings = AuditSettings(sync_timeout=5.0, backlog_bytes=10_000)
        log = await RemoteLog.open(path, "ann", settings, server_user=ME)

    def fill() -> None:
        for _ in range(100):
            log.append("dispatch", {"text": "x" * 1000})

    with pytest.raises(AuditUnavailable, match="too slow"):
        fill()
    async with run_server(tmp_path):
        await log.commit()
        await log.close()


async def test_many_at_once_share_the_syncs(tmp_path: Path) -> None:
    """Each is released when its own record is on disk."""
    async with run_server(tmp_path) as path:
        log = await connect(path)

        async def write(number: int) -> None:
            await log.commit(log.append("tool_started", {"n": number, "text": "y" * 5000}))

        await asyncio.gather(*(write(number) for number in range(300)))
        assert log.durable == 300
        await log.close()
    bodies = read_bodies(find_log(tmp_path), "tool_started")
    assert sorted(body["n"] for body in bodies) == list(range(300))
