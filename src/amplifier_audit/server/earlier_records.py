"""How many records of one client a log has, to go on after a broken connection."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from amplifier_audit.format.own_records import OWN_TYPES, WriterConnected
from amplifier_audit.format.record import Record


def digest_client(secret: str) -> str:
    """What the log says of a client: whoever reads it cannot pass for the client."""
    return hashlib.sha256(b"amplifier-audit client v1\n" + secret.encode()).hexdigest()


def count_records(records: Iterable[Record], client: str) -> int:
    """Those that stand behind its connections; earlier ones are counted in the connection."""
    count, connected = 0, False
    for record in records:
        if record["type"] == WriterConnected.type:
            writer = WriterConnected.parse(record["body"])
            connected = writer.client == client
            count = writer.have if connected and writer.have is not None else count
        elif connected and record["type"] not in OWN_TYPES:
            count += 1
    return count
