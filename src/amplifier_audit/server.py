"""The writer as a process of its own: it alone has the files and the key.

Each session has its log below `folder/USER/`. A session can append; it cannot read, change or
remove a record, and the kernel says who it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import socket
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_audit.anchors import Anchor
from amplifier_audit.checkpoint import Signer
from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import AuditDirectory, open_log
from amplifier_audit.messages import (
    MESSAGE_LIMIT,
    PROTOCOL,
    SOURCE,
    BadMessage,
    Peer,
    decode_message,
    encode_message,
    read_count,
    read_peer,
    read_text,
)
from amplifier_audit.own_records import OWN_TYPES, WriterConnected
from amplifier_audit.reader import read_records
from amplifier_audit.record import Record, name_log
from amplifier_audit.settings import AuditSettings

# Unsynced bytes of one session beyond which its connection is not read: it waits, not the memory.
BACKLOG = 8 * 1024 * 1024


@dataclass(slots=True)
class ServedTrail:
    """Takes the messages of one session, in their order, until it closes or is gone."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    peer: Peer
    client: str
    log: AuditLog
    count: int
    closed: bool = False
    ended: bool = False
    _unsynced: int = 0
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self) -> None:
        """Return when the session has `closed` or its connection is gone; the log is open then."""
        acknowledging = asyncio.create_task(self._acknowledge())
        try:
            while await self._take(await read_line(self.reader)):
                pass
        except BadMessage as error:
            await self._send(failed=f"the writer does not understand: {error}")
        except AuditError as error:
            await self._send(failed=str(error))
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            self.ended = True
            acknowledging.cancel()

    async def _take(self, line: bytes) -> bool:
        """Handle one message; False if it was the last."""
        message = decode_message(line)
        if "append" in message:
            await self._append(message, len(line))
        elif "commit" in message:
            self._wanted.set()
        elif "close" in message:
            await self._commit()
            self.closed = True
            return False
        else:
            raise BadMessage("not a message of this protocol")
        return True

    async def _append(self, message: dict[str, Any], size: int) -> None:
        if read_count(message, "append") != self.count:
            raise BadMessage(f"record {message['append']} where {self.count} belongs")
        type, session, turn, event, hook, registration = (message.get(one) for one in SOURCE)
        body = message.get("body")
        if not isinstance(type, str) or not isinstance(body, dict):
            raise BadMessage("a record has a type and a body")
        if self._unsynced > BACKLOG:
            await self._commit()
        self.log.append(
            type,
            body,
            session=session,
            turn=turn,
            event=event,
            hook=hook,
            registration=registration,
        )
        self.count += 1
        self._unsynced += size

    async def _acknowledge(self) -> None:
        """One sync serves all that came before it; reading goes on meanwhile."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._commit()
            except AuditUnavailable as error:
                await self._send(failed=str(error))
                self.writer.close()
                return

    async def _commit(self) -> None:
        count = self.count
        self._unsynced = 0
        await self.log.commit()
        await self._send(durable=count)

    async def say_goodbye(self) -> None:
        """The log is closed, if that was asked for."""
        if self.closed:
            await self._send(closed=self.count)

    async def _send(self, **message: Any) -> None:
        try:
            self.writer.write(encode_message(**message))
            await self.writer.drain()
        except ConnectionError:
            return


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """A whole line; an end within one is the end of the connection."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.LimitOverrunError as error:
        raise BadMessage(f"a line of more than {MESSAGE_LIMIT} bytes") from error


def digest_client(secret: str) -> str:
    """What the log says of a client: whoever reads it cannot pass for the client."""
    return hashlib.sha256(b"amplifier-audit client v1\n" + secret.encode()).hexdigest()


def count_records(records: Iterable[Record], client: str) -> int:
    """Those that stand behind its connections; earlier ones are counted in the connection."""
    count = 0
    connected = False
    for record in records:
        if record["type"] == WriterConnected.type:
            writer = WriterConnected.parse(record["body"])
            connected = writer.client == client
            count = writer.have if connected and writer.have is not None else count
        elif connected and record["type"] not in OWN_TYPES:
            count += 1
    return count


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
