"""The bytes between client and resident process, as the resident process reads and writes them."""

from __future__ import annotations

import math
from typing import NamedTuple

from amplifier_hooks.coding_agents.daemon.request import Request, Response

PROTOCOL = b"amplifier-guest 1"
RESTART = b"\nrestart\n"
BEAT = b"."
LONGEST_HEAD = 65536
LONGEST_PAYLOAD = 64 * 1024 * 1024
CONTROL = "-"
_LONGEST_WAIT = 86400.0


class Question(NamedTuple):
    """A request, and the version of the client that made it."""

    version: str
    request: Request


def read_question(received: bytes, client: int = 0) -> Question:
    """What a client sent, and its process; ValueError is a sentence about what is wrong with it."""
    head, newline, payload = received.partition(b"\n")
    protocol, *fields = head.split(b"\t")
    if not newline or protocol != PROTOCOL or len(fields) != 7:
        raise ValueError("the client speaks another protocol than the resident process")
    version, agent, event, seconds, marks, cwd, bundle = (_unescape(one) for one in fields)
    request = Request(
        agent=agent,
        event=event,
        payload=payload,
        seconds=_read_seconds(seconds),
        cwd=cwd,
        bundle=bundle,
        marks=frozenset(filter(None, marks.split(","))),
        client=client,
    )
    return Question(version, request)


def read_patience(received: bytes) -> float | None:
    """The seconds that a client waits, as soon as its first line is there; None before that."""
    head, newline, _ = received.partition(b"\n")
    fields = head.split(b"\t")
    try:
        return _read_seconds(fields[4].decode()) if newline else None
    except (IndexError, ValueError):
        return None


def write_answer(response: Response) -> bytes:
    """A response as the client reads it; ValueError if it is none that a process can give."""
    if not 0 <= response.code <= 255:
        raise ValueError(f"An exit code is from 0 to 255, not {response.code}")
    head = f"\n{response.code} {len(response.stdout)} {len(response.stderr)}\n"
    return head.encode() + response.stdout + response.stderr


def _unescape(field: bytes) -> str:
    plain = field.replace(b"%0A", b"\n").replace(b"%09", b"\t").replace(b"%25", b"%")
    return plain.decode("utf-8", "surrogateescape")


def _read_seconds(text: str) -> float:
    seconds = float(text)
    if not math.isfinite(seconds) or not 0 < seconds <= _LONGEST_WAIT:
        raise ValueError(f"the client waits {text} seconds, which is no time to wait")
    return seconds
