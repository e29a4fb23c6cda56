"""The connection to the writer: what it does with answers that no writer gives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.messages import encode_message
from amplifier_audit.remote_log import RemoteLog
from amplifier_audit.settings import AuditSettings
from tests.audit.server.support import ME
from tests.audit.support import count_open_files

HASTY = AuditSettings(sync_timeout=0.4)


@asynccontextmanager
async def answer_with(path: Path, *answers: bytes) -> AsyncIterator[Path]:
    """A writer that gives these answers to whatever it is told, one for each message."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            if not await reader.readline():
                break
            writer.write(answer)
        await reader.read()
        writer.close()

    async with await asyncio.start_unix_server(serve, path / "socket"):
        yield path / "socket"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (b"nonsense\n", "not JSON"),
        (encode_message(welcome=2, have=0), "not a writer of this protocol"),
        (encode_message(welcome=1, have=5), "has 5 records"),
        (encode_message(welcome=1), "have is a number"),
        (encode_message(refused="no"), "refuses: no"),
    ],
)
async def test_a_greeting_that_is_none_is_no_connection(
    tmp_path: Path, answer: bytes, word: str
) -> None:
    """With what is wrong about it."""
    async with answer_with(tmp_path, answer) as path:
        with pytest.raises(AuditUnavailable, match=word):
            await RemoteLog.open(path, "ann", HASTY, server_user=ME)


async def test_a_connection_that_was_not_made_leaves_nothing_open(tmp_path: Path) -> None:
    """A session may try again for a long time."""
    before = count_open_files()
    for _ in range(3):
        with pytest.raises(AuditUnavailable):
            await RemoteLog.open(tmp_path / "none", "ann", HASTY, server_user=ME)
    assert count_open_files() == before


async def test_a_writer_that_acknowledges_what_was_not_sent_is_not_believed(
    tmp_path: Path,
) -> None:
    """Nobody is released before the record was handed over."""
    async with answer_with(
        tmp_path, encode_message(welcome=1, have=0) + encode_message(durable=99)
    ) as path:
        with pytest.raises(AuditUnavailable):
            await RemoteLog.open(path, "ann", HASTY, server_user=ME)


async def test_a_failure_of_the_writer_is_final(tmp_path: Path) -> None:
    """With its reason."""
    answers = (encode_message(welcome=1, have=0), encode_message(failed="No space left"))
    async with answer_with(tmp_path, *answers) as path:
        log = await RemoteLog.open(path, "ann", HASTY, server_user=ME)
        with pytest.raises(AuditUnavailable, match="No space left"):
            await log.commit(log.append("dispatch", {}))
        assert "No space left" in (log.failure or "")
        await log.close()


async def test_a_writer_that_says_nothing_is_not_waited_for_forever(tmp_path: Path) -> None:
    """Neither by whoever commits nor at the end."""
    async with answer_with(tmp_path, encode_message(welcome=1, have=0)) as path:
        log = await RemoteLog.open(path, "ann", HASTY, server_user=ME)
        with pytest.raises(AuditUnavailable, match=r"0\.4 s"):
            await log.commit(log.append("dispatch", {}))
        await log.close()
        assert "does not answer" in (log.failure or "")
