"""Requests of a client to the daemon, the answers, and the bytes of both."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One event of one agent."""

    agent: str
    """its name in `known`"""
    event: str
    """the agent's name of the event, from the command line"""
    payload: bytes
    """what the agent wrote to the command"""
    seconds: float
    """until the client gives up"""
    cwd: str = ""
    """the folder that the client was called in"""
    bundle: str = ""
    """the bundle that the command names, if it does"""
    marks: frozenset[str] = frozenset()
    """what the environment of the client tells about the agent"""
    client: int = 0
    """the process that asks; 0 where that is not known, as over HTTP"""


@dataclass(frozen=True, slots=True)
class Response:
    """What the command does: its exit code and what it writes."""

    code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""


class Judge(Protocol):
    """Decides about events, and keeps the sessions of the agents."""

    async def answer(self, request: Request) -> Response:
        """Decide about one event, before its time is over."""

    async def close(self) -> None:
        """Suspend every session: its state is saved and its trail closed, but no end recorded."""

    def count_sessions(self) -> int:
        """How many sessions are open."""

    def list_alarms(self) -> list[str]:
        """What is wrong with the guards of sessions that are open."""

    def holds_open(self) -> bool:
        """Whether the process must stay although nobody asks, as for an agent that uses HTTP."""


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
