"""One connection of a session to the writer: what it appends, and what it is told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.server.messages import (
    MESSAGE_LIMIT,
    SOURCE,
    BadMessage,
    decode_message,
    encode_message,
    read_count,
)
from amplifier_audit.server.peer import Peer
from amplifier_audit.writer.log import AuditLog

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
        count, self._unsynced = self.count, 0
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
