"""The context of a check: programs and folders that each line uses, and how it reports."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from amplifier_core import events
from amplifier_core.errors import SessionStateError
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.coding_agents.client.launch import NAME, read_launch
from amplifier_hooks.coding_agents.daemon.control import read_status, stop_resident
from amplifier_hooks.coding_agents.daemon.folder import choose_port
from amplifier_hooks.coding_agents.dialects.dialect import Power
from amplifier_hooks.coding_agents.self_test.hook import Ticket, write_command, write_mark
from amplifier_hooks.coding_agents.self_test.host import Answer, Event, Host
from amplifier_hooks.coding_agents.sessions.open_sessions import name_session
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.trails.bodies import SELF_TEST_HOOK

State = Literal["ok", "cannot", "yours", "broken", "untried"]
"""How a line went:

ok       it works
cannot   the agent has no way to do this
yours    hooks of the person blocked it, so the rest could not be seen
broken   it does not work
untried  something before it is broken
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a line is about, its state, and what was seen."""

    name: str
    state: State
    detail: str = ""

    @property
    def fails(self) -> bool:
        """Whether the guard does not do what it should."""
        return self.state in ("broken", "untried")


def leave(host: Host, ticket: Ticket, folder: Path) -> None:
    """End the session as the agent would, and remove what could be gone on with."""
    try:
        host.end_session()
    finally:
        ticket.remove()
    with contextlib.suppress(OSError, ValueError, SessionStateError):
        home = find_data_home(read_launch(os.fsencode(folder)).env)
        store = SessionStore(home / "amplifier" / "guests" / "sessions")
        store.delete(name_session(host.dialect.name, ticket.session_id))


_IDLE = "60"
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Spare:
    """Where it is met."""

    folder: Path
    port: int

    def find_pid(self) -> int | None:
        """The process, if it runs."""
        status = read_status(self.folder)
        return None if status is None else int(status["pid"])


@contextlib.contextmanager
def prepare_spare(folder: Path) -> Iterator[Spare]:
    """A folder in which clients start the same program in the same environment."""
    launch = read_launch(os.fsencode(folder))
    near = None if len(tempfile.gettempdir()) < _LONGEST else "/tmp"
    place = Path(tempfile.mkdtemp(prefix="amplifier-check-", dir=near))
    try:
        data: dict[str, object] = {
            "argv": [*launch.argv[:-1], str(place)],
            "env": {**launch.env, "AMPLIFIER_GUEST_IDLE": _IDLE},
        }
        port = 0
        if launch.http is not None:
            port = choose_port().port
            data["http"] = {**launch.http, "port": port}
        path = place / NAME
        path.touch(mode=0o600)
        path.write_text(json.dumps(data))
        yield Spare(place, port)
    finally:
        with contextlib.suppress(OSError, ValueError, TimeoutError):
            stop_resident(place)
        shutil.rmtree(place, ignore_errors=True)


RESULT = "amplifier-check: the result as the tool returned it"


class CheckProblem(Exception):
    """Why a line cannot be tried: that is what it found."""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """A played agent, the ticket of its session, and how long to wait for what does not come."""

    host: Host
    ticket: Ticket
    title: str
    """The agent's name, as people know it."""
    folder: Path
    seconds: float

    def can(self, event: str, power: Power) -> bool:
        """Whether an answer at this event can do that."""
        found = self.host.find_row(event)
        return found is not None and power in found[1].powers

    def make_call(self, case: str, number: int = 0) -> Event:
        """A tool call that asks the hook for this case."""
        given = {"command": write_command(case, number)}
        return self.require(events.TOOL_PRE, tool_name="Bash", tool_input=given)

    def make_prompt(self, case: str) -> Event:
        """A prompt that asks the hook for this case."""
        return self.require(events.PROMPT_SUBMIT, prompt=write_mark(case))

    def make_result(self, case: str, tool: str = "Bash", **more: object) -> Event:
        """What came of a tool call that asks the hook for this case."""
        told = {
            "tool_name": tool,
            "tool_input": {"command": write_command(case)},
            "tool_result": {"success": True, "output": RESULT, "error": None},
            "success": True,
            "duration_ms": 1,
        }
        return self.require(events.TOOL_POST, **{**told, **more})

    def make_gates(self, case: str) -> dict[str, Event]:
        """An event at each gate that the check knows, by a case of its own."""
        makers = {
            events.TOOL_PRE: ("call", self.make_call),
            events.PROMPT_SUBMIT: ("prompt", self.make_prompt),
            events.TOOL_POST: ("result", self.make_result),
        }
        found = {}
        for event, (end, make) in makers.items():
            row = self.host.find_row(event)
            if row is not None and row[1].gate:
                found[f"{case}-{end}"] = make(f"{case}-{end}")
        return found

    def require(self, event: str, **data: object) -> Event:
        """An event of the agent; CheckProblem if nothing is installed there."""
        found = self.host.make_event(event, **data)
        if found is None:
            row = self.host.find_row(event)
            name = event if row is None else row[0]
            raise CheckProblem(f"nothing of ours is installed at {name}; install the guard again")
        return found

    def judge(self, name: str, case: str, answer: Answer, *, works: bool, how: str) -> Finding:
        """The finding of a line; where it does not work, who is to blame."""
        if works:
            return Finding(name, "ok", how)
        if not self.ticket.list_reports(case):
            return Finding(name, "broken", f"it was not judged: {describe(answer)}")
        if answer.blocks and answer.reply.code == 0 and not is_our_failure(answer):
            return Finding(name, "yours", f"your own hooks block it: {answer.describe()}")
        return Finding(name, "broken", describe(answer))


def describe(answer: Answer) -> str:
    """What came back, and what that means for the call."""
    end = "the call is blocked" if answer.blocks else "THE CALL IS LET THROUGH"
    return f"{answer.describe()} ({end})"


def is_our_failure(answer: Answer) -> bool:
    """Whether the answer says that we could not judge, or comes from the check's own hook."""
    reason = answer.verdict.reason or ""
    return reason.startswith("amplifier: ") or SELF_TEST_HOOK in reason
