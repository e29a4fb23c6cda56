"""The writer as a process of its own: it alone has the files and the key.

Each session has its log below `folder/USER/`. A session can append; it cannot read, change or
remove a record, and the kernel says who it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import stat
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.files.directory import AuditDirectory
from amplifier_audit.files.log_files import open_log
from amplifier_audit.format.checkpoint import Signer
from amplifier_audit.format.log_name import name_log
from amplifier_audit.format.own_records import WriterConnected
from amplifier_audit.reader.records import read_records
from amplifier_audit.server.earlier_records import count_records, digest_client
from amplifier_audit.server.messages import (
    MESSAGE_LIMIT,
    PROTOCOL,
    BadMessage,
    decode_message,
    encode_message,
    read_count,
    read_text,
)
from amplifier_audit.server.peer import Peer, read_peer
from amplifier_audit.server.served_trail import ServedTrail, read_line
from amplifier_audit.writer.anchors import Anchor
from amplifier_audit.writer.log import AuditLog
from amplifier_audit.writer.settings import AuditSettings

logger = logging.getLogger(__name__)

CONNECTIONS = 256
HELLO_SECONDS = 10.0


@dataclass(slots=True)
class _Seat:
    """One trail that is being written; `trail` comes when its log is open."""

    ended: asyncio.Event = field(default_factory=asyncio.Event)
    trail: ServedTrail | None = None


@dataclass(slots=True)
class AuditServer:
    """Listens on a socket; `users` are the numbers of those who may have a trail here."""

    folder: Path
    users: Collection[int]
    settings: AuditSettings = field(default_factory=AuditSettings)
    signer: Signer | None = None
    anchors: tuple[Anchor, ...] = ()
    watch: tuple[Path, ...] = ()
    _seats: dict[Path, _Seat] = field(default_factory=dict)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    async def run(self, path: Path, *, started: asyncio.Event | None = None) -> None:
        """Serve until cancelled; then every log is closed as its session would have."""
        lock = AuditDirectory(self.folder)
        lock.create()
        descriptor = lock.lock()
        try:
            server = await asyncio.start_unix_server(
                self._welcome, sock=_listen(path), limit=MESSAGE_LIMIT
            )
            # Leaving `async with server` would wait for the clients (since Python 3.12).
            with contextlib.closing(server):
                if started is not None:
                    started.set()
                await asyncio.Event().wait()
        finally:
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            _clean_up(path, descriptor)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (BadMessage, AuditError, TimeoutError) as error:
            await _refuse(writer, str(error) or "no hello came")
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            logger.debug("A connection ended")
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = read_peer(writer.get_extra_info("socket"))
        if peer.user not in self.users:
            raise AuditUnavailable(f"user {peer.user} has no trail here")
        if len(self._tasks) > CONNECTIONS:
            raise AuditUnavailable(f"{CONNECTIONS} sessions are connected, which is the limit")
        async with asyncio.timeout(HELLO_SECONDS):
            hello = decode_message(await read_line(reader))
        if hello.get("hello") != PROTOCOL:
            raise BadMessage(f"this writer speaks version {PROTOCOL} of the protocol")
        name = name_log(read_text(hello, "session"))
        client = digest_client(read_text(hello, "client"))
        path = self.folder / str(peer.user) / name
        seat = await self._take_seat(path, client)
        try:
            seat.trail = await self._open_trail(reader, writer, peer, client, path, hello)
            try:
                await seat.trail.serve()
            finally:
                await asyncio.shield(seat.trail.log.close())
        finally:
            del self._seats[path]
            seat.ended.set()
        await seat.trail.say_goodbye()

    async def _take_seat(self, path: Path, client: str) -> _Seat:
        """One writer per trail: the same client may come back, another one may not push it out."""
        while (taken := self._seats.get(path)) is not None:
            trail = taken.trail
            if trail is None or not (trail.ended or trail.client == client):
                by = "another process" if trail is None else f"process {trail.peer.process}"
                raise AuditUnavailable(f"{by} writes the trail of this session")
            trail.writer.close()
            await taken.ended.wait()
        seat = self._seats[path] = _Seat()
        return seat

    async def _open_trail(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: Peer,
        client: str,
        path: Path,
        hello: dict[str, Any],
    ) -> ServedTrail:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        log = await AuditLog.open(
            path,
            self.settings,
            signer=self.signer,
            anchors=self.anchors,
            name=path.name,
            watch=self.watch,
        )
        try:
            have = 0
            if read_count(hello, "sent"):
                have = await asyncio.to_thread(_count, path, client)
            log.note_writer(WriterConnected(client=client, peer=peer.to_dict(), have=have))
            await log.commit()
        except BaseException:
            await asyncio.shield(log.close())
            raise
        writer.write(encode_message(welcome=PROTOCOL, have=have))
        return ServedTrail(reader, writer, peer, client, log, have)


def _clean_up(path: Path, lock: int) -> None:
    path.unlink(missing_ok=True)
    os.close(lock)


def _count(path: Path, client: str) -> int:
    return count_records(read_records(open_log(path)), client)


def _listen(path: Path) -> socket.socket:
    """A socket that every user may connect to; who is let in, the kernel's word decides."""
    parent = path.parent.stat()
    if parent.st_mode & 0o022 and not parent.st_mode & stat.S_ISVTX:
        raise AuditUnavailable(
            f"Others may write {path.parent}, and could put a socket of their own in the place of "
            f"{path.name}: chmod go-w {path.parent}"
        )
    _remove_stale(path)
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(str(path))
        path.chmod(0o666)
    except OSError as error:
        listening.close()
        raise AuditUnavailable(f"Cannot listen on {path}: {error.strerror or error}") from error
    return listening


def _remove_stale(path: Path) -> None:
    """What a server that was killed left; one that lives still has the lock of the folder."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise AuditUnavailable(f"{path} exists and is not a socket")
    except FileNotFoundError:
        return
    path.unlink()


async def _refuse(writer: asyncio.StreamWriter, why: str) -> None:
    with contextlib.suppress(ConnectionError):
        writer.write(encode_message(refused=why))
        await writer.drain()
