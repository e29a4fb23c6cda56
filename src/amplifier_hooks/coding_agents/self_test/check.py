"""The whole check of one installation: line by line, in the order in which people read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.extensions import MOD
from amplifier_hooks.coding_agents.installing.status import Status, read_status
from amplifier_hooks.coding_agents.installing.versions import explain_version
from amplifier_hooks.coding_agents.self_test import answers, failures
from amplifier_hooks.coding_agents.self_test.context import (
    CheckContext,
    CheckProblem,
    Finding,
    State,
    leave,
)
from amplifier_hooks.coding_agents.self_test.entry import Entry, explain_foreign
from amplifier_hooks.coding_agents.self_test.hook import make_ticket
from amplifier_hooks.coding_agents.self_test.host import Host

Line = Callable[[CheckContext, str], Finding]

SECONDS = 2.0
FIRST = "the guard answers"
LAST = "{title} calls the guard"
LINES: Mapping[str, Line] = {
    "a denied tool call does not run": answers.deny_call,
    "a denied prompt does not reach the model": answers.deny_prompt,
    "a rewritten tool call runs as rewritten": answers.rewrite_call,
    "injected text reaches the model": answers.inject_text,
    "a question is put to a person": answers.ask_person,
    "a tool's result is replaced": answers.replace_result,
    "two calls at once get their own answers": failures.call_twice,
    "a crash of the command blocks": failures.crash_client,
    "a time-out blocks": failures.time_out,
    "the death of the resident process blocks": failures.kill_resident,
}
_SLOW = (answers.ask_person, failures.time_out, failures.kill_resident)
"""They mostly wait, so they are tried beside the others."""


class Check:
    """One run through all lines; afterwards `milliseconds` says what a call takes."""

    def __init__(self, agent: str, entries: Mapping[str, Entry], cwd: Path) -> None:
        self.milliseconds: float | None = None
        self._agent = agent
        self._entries = entries
        self._cwd = cwd

    def run(self, seconds: float = SECONDS) -> Iterator[Finding]:
        """Try every line; `seconds` is how long to wait for what is not to come."""
        folder = next((one.folder for one in self._entries.values() if one.folder), None)
        if folder is None:
            yield Finding(FIRST, "broken", "our lines cannot be read; somebody has changed them")
            yield from _leave_out()
            return
        foreign = explain_foreign(self._entries)
        if foreign is not None:
            yield Finding(
                FIRST, "broken", f"{foreign}. Write it anew: amplifier guard {self._agent}"
            )
            yield from _leave_out()
            return
        ticket = make_ticket(folder, seconds)
        host = Host(self._agent, self._entries, ticket.session_id, self._cwd)
        context = CheckContext(host, ticket, AGENTS[self._agent].title, folder, seconds)
        try:
            yield from self._try_all(context)
        finally:
            leave(host, ticket, folder)

    def ask_agent(self, root: Path) -> Iterator[Finding]:
        """Whether the agent itself calls what is installed, as far as that can be known."""
        status = read_status(self._agent, root)
        name = LAST.format(title=status.agent.title)
        needs_trust = any(one.scope != "system" for one in status.installed)
        if self._agent == "codex" and status.program is None and needs_trust:
            unknown = "there is no codex on the PATH that could say whether it trusts our hooks"
            yield Finding(name, "cannot", unknown)
        elif status.problems:
            yield Finding(name, "broken", "; ".join(status.problems))
        else:
            yield Finding(name, "ok", "nothing in its settings keeps it from that")
        yield _judge_version(status)
        yield from _list_above(status)

    def _try_all(self, context: CheckContext) -> Iterator[Finding]:
        context.host.start_session()  # always by a command, which starts the resident process
        first = _try(failures.answer_at_all, context, FIRST)
        yield first
        if first.fails:
            yield from _leave_out()
            return
        self.milliseconds = failures.measure_call(context)
        with ThreadPoolExecutor(len(_SLOW)) as pool:
            slow = {
                name: pool.submit(_try, line, context, name)
                for name, line in LINES.items()
                if line in _SLOW
            }
            done = {
                name: _try(line, context, name) for name, line in LINES.items() if name not in slow
            }
            for name in LINES:
                yield slow[name].result() if name in slow else done[name]


def _try(line: Line, context: CheckContext, name: str) -> Finding:
    """A line that falls over has found something, too."""
    try:
        return line(context, name)
    except (CheckProblem, OSError, ValueError) as error:
        return Finding(name, "broken", str(error) or describe_error(error))


def _judge_version(status: Status) -> Finding:
    """Whether this version of the agent was tried, and how many of its events are covered."""
    name = "its version is one that was tried"
    if status.program is None:
        return Finding(name, "cannot", f"there is no {status.agent.name} on the PATH to ask")
    why = explain_version(status.agent.name, status.agent.title, status.version)
    known = status.agent.list_events(version=status.version)
    covered = {event for one in status.installed for event in one.events}
    count = f"{status.version or 'unknown'}, {len(covered & known.keys())} of {len(known)} events"
    return Finding(name, "cannot" if why else "ok", f"{count}; {why}" if why else count)


def _list_above(status: Status) -> Iterator[Finding]:
    """What can act without being told to any hook, by name."""
    for can in dict.fromkeys(one.can for one in status.extensions):
        names = [f"{one.kind} {one.name}" for one in status.extensions if one.can == can]
        state: State = "cannot" if can == MOD else "ok"
        yield Finding("what runs beside the guard", state, f"{', '.join(names)}: {can}")


def _leave_out() -> Iterator[Finding]:
    for name in LINES:
        yield Finding(name, "untried", "the guard does not answer")
