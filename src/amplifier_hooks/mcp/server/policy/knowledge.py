"""What is known of hooks without running them: which can be asked, and what the others do.

Only our own modules can be known, by their ids. A hook that somebody else wrote may do anything
when it is called, so it is not called; nor is one that runs commands, or whose answer depends on
what happened in the session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["asked", "depends", "observes", "runs code"]

_NOT_CALLED = {
    "asked": "",
    "depends": "; it was not called, so nothing was counted",
    "observes": "; it stops no call, and was not called",
    "runs code": "; it was not called",
}


@dataclass(frozen=True, slots=True)
class Knowledge:
    """How a module's hooks are treated, and what they do."""

    kind: Kind
    does: str

    @property
    def why(self) -> str:
        """Why they were not asked."""
        return self.does + _NOT_CALLED[self.kind]


UNKNOWN = Knowledge("runs code", "its code may do anything when it is called")

_ASKED = {
    "hooks-redaction": "keeps secrets out of what tools write and models read",
    "hooks-production-guard": "asks before something is written to a guarded path",
    "hooks-command-guard": "denies or asks about dangerous shell commands",
    "hooks-rules": "applies the rules of the bundle",
    "hooks-injection-guard": "looks for instructions in what servers say and tools return",
}
"""Their answer follows from the call and the files alone, and giving it changes nothing."""
_DEPENDS = {
    "hooks-rate-limit": "denies or asks when a limit of calls is reached in the session",
    "hooks-progress-monitor": "asks or denies when the session repeats itself",
    "hooks-cost-control": "denies or asks before a request to the model, when a limit is reached",
}
_OBSERVES = {
    "hooks-backup": "copies files before they are overwritten",
    "hooks-datetime": "tells the agent the time with a prompt",
    "hooks-git-status": "tells the agent the state of the repository at the start",
    "hooks-linter-feedback": "runs a linter after an edit",
    "hooks-logging": "writes events to a log",
    "hooks-notify": "sends notifications",
    "hooks-otel": "sends traces and metrics",
    "hooks-session-naming": "names the session",
    "hooks-test-runner": "runs tests after an edit",
    "hooks-todo-display": "shows the list of tasks",
}
KNOWN: dict[str, Knowledge] = {
    **{name: Knowledge("asked", does) for name, does in _ASKED.items()},
    **{name: Knowledge("depends", does) for name, does in _DEPENDS.items()},
    **{name: Knowledge("observes", does) for name, does in _OBSERVES.items()},
    "hooks-shell": Knowledge("runs code", "it runs commands"),
}
ACT_WHEN_MOUNTED = frozenset({"hooks-shell", "hooks-otel", "hooks-logging"})
"""One makes a folder for its scripts, one opens a connection, one its file."""
