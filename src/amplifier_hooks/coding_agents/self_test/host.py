"""An agent, played: it builds its events, calls what is installed, and obeys the answers."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from amplifier_core import events
from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.daemon.http import SECONDS_HEADER
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import TOOL, Call, Dialect, NativeEvent, Reply
from amplifier_hooks.coding_agents.dialects.reading import name_event
from amplifier_hooks.coding_agents.self_test.entry import Entry
from amplifier_hooks.external.verdicts import Verdict


class Shot(Protocol):
    """An event that was fired."""

    def wait(self, seconds: float) -> Reply:
        """The answer, or that there was none in that time."""

    def kill_client(self) -> None:
        """Kill the command that waits for the answer."""


class CommandShot:
    """The line in a shell, with the event on its standard input."""

    def __init__(self, line: str, payload: bytes, env: Mapping[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        stdin = self._process.stdin
        self._process.stdin = None
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError), stdin:
            stdin.write(payload)

    def wait(self, seconds: float) -> Reply:
        """Its exit code and what it wrote."""
        try:
            out, err = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._end()
            return Reply(failure=f"it did not end within {seconds:g} seconds", timed_out=True)
        code = self._process.returncode
        return Reply(code, out.decode(errors="replace"), err.decode(errors="replace"))

    def kill_client(self) -> None:
        """The shell's child, or the shell itself if it has become the command."""
        pid = self._process.pid
        for one in _list_children(pid) or [pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def _list_children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            # Behind the name, which may hold anything: state, then parent.
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found


class HttpShot:
    """A request under way."""

    def __init__(self, url: str, payload: bytes, headers: Mapping[str, str]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._answer: Future[Reply] = self._pool.submit(_post, url, payload, dict(headers))
        self._pool.shutdown(wait=False)

    def wait(self, seconds: float) -> Reply:
        """The body of the answer, or why there is none."""
        try:
            return self._answer.result(seconds)
        except StillRunning:
            return Reply(failure=f"no answer within {seconds:g} seconds", timed_out=True)

    def kill_client(self) -> None:
        """There is no command."""


def _post(url: str, payload: bytes, headers: dict[str, str]) -> Reply:
    place = urlsplit(url)
    line = HTTPConnection(str(place.hostname), place.port, timeout=60)
    try:
        line.request("POST", place.path, payload, {**headers, "Content-Type": "application/json"})
        answer = line.getresponse()
        body = answer.read().decode(errors="replace")
    except (OSError, HTTPException) as error:
        return Reply(failure=f"{url}: {describe_error(error)}")
    finally:
        line.close()
    if answer.status != 200:
        return Reply(failure=f"{url} answered with status {answer.status}: {body[:200]}")
    return Reply(stdout=body)


LIMIT = "AMPLIFIER_GUEST_SECONDS"
# Of an agent in whose shell the check itself may run.
_FOREIGN = frozenset({LIMIT, "COPILOT_CLI", "CLAUDE_CODE_ENTRYPOINT"})
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the agent: which, and what it tells."""

    entry: Entry
    call: Call


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and what the agent makes of it."""

    verdict: Verdict
    reply: Reply

    @property
    def blocks(self) -> bool:
        """Whether the agent goes no further."""
        return self.verdict.decision == "deny"

    def describe(self) -> str:
        """What was said, in one line."""
        said = self.verdict.reason or self.reply.failure or self.reply.stderr
        text = said or "; ".join(self.verdict.warnings) or self.reply.stdout
        return " ".join(text.split())[:300] or f"exit code {self.reply.code}, and not a word"


class Host:
    """Plays one session of an agent in a folder."""

    def __init__(self, agent: str, entries: Mapping[str, Entry], session: str, cwd: Path) -> None:
        self.dialect: Dialect = DIALECTS[agent]
        self.entries = entries
        self._session = session
        self._cwd = cwd

    def move_to(self, folder: Path, port: int, session: str) -> Host:
        """The same agent with another session, in front of another resident process."""
        entries = {name: one.move_to(folder, port) for name, one in self.entries.items()}
        return Host(self.dialect.name, entries, session, self._cwd)

    def find_row(self, event: str) -> tuple[str, NativeEvent] | None:
        """The agent's event that is one of ours: its name and its row."""
        for native, row in self.dialect.events.items():
            fits = name_event(native, row) == event and not row.noisy
            if fits and (row.matched == TOOL or not event.startswith("tool:")):
                return native, row
        return None

    def make_event(self, event: str, **data: Any) -> Event | None:
        """An event of ours as the agent tells it; None if nothing is installed there."""
        found = self.find_row(event)
        entry = None if found is None else self.entries.get(found[0])
        if entry is None:
            return None
        told = {"tool_call_id": f"check_{secrets.token_hex(6)}", **data}
        call = Call(event, entry.native, told, self._session, str(self._cwd))
        return Event(entry, call)

    def fire(self, event: Event, limit: float | None = None) -> Shot:
        """Call what is installed; `limit` lowers our own deadline."""
        entry = event.entry
        payload = self.build_payload(event)
        if entry.handler.url is not None:
            headers = dict(entry.handler.headers)
            headers |= {} if limit is None else {SECONDS_HEADER: f"{limit:g}"}
            return HttpShot(entry.handler.url, payload, headers)
        env = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
        env |= self.dialect.build_environment(event.call)
        env |= {} if limit is None else {LIMIT: f"{limit:g}"}
        return CommandShot(entry.handler.command or "", payload, env, self._cwd)

    def build_payload(self, event: Event) -> bytes:
        """What the agent would write."""
        return json.dumps(self.dialect.build_payload(event.call), default=str).encode() + b"\n"

    def read(self, event: Event, shot: Shot) -> Answer:
        """Wait for the answer, and judge it as the agent does."""
        handler = event.entry.handler
        reply = shot.wait(min(handler.timeout, _PATIENCE))
        return Answer(self.dialect.read_reply(handler, event.call, reply), reply)

    def call(self, event: Event, limit: float | None = None) -> Answer:
        """Fire an event, and obey."""
        return self.read(event, self.fire(event, limit))

    def start_session(self) -> None:
        """Tell that the session begins, where the agent does."""
        starting = self.make_event(events.SESSION_START, source="startup")
        if starting is not None:
            self.call(starting)

    def end_session(self) -> None:
        """Tell that the session is over, where the agent does."""
        ending = self.make_event(events.SESSION_END, reason="complete")
        if ending is not None:
            self.call(ending)
