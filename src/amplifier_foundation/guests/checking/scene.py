"""What every line of a check works with, and how it says what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from amplifier_core import events
from amplifier_foundation.dialects.dialect import Power
from amplifier_foundation.guests.checking.finding import Finding
from amplifier_foundation.guests.checking.host import Answer, Event, Host
from amplifier_foundation.guests.checking.marker import write_command
from amplifier_foundation.guests.checking.ticket import Ticket


class CheckProblem(Exception):
    """Why a line cannot be tried: that is what it found."""


@dataclass(frozen=True, slots=True)
class Scene:
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
    """Whether the answer says that we could not judge."""
    return (answer.verdict.reason or "").startswith("amplifier: ")
