"""The whole check of one installation: line by line, in the order in which people read it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from amplifier_core import events
from amplifier_core.utils import describe_error
from amplifier_hooks.coding_agents.dialects.claude import has_shape
from amplifier_hooks.coding_agents.installing.agents import AGENTS, explain_version
from amplifier_hooks.coding_agents.installing.status import Status, read_status
from amplifier_hooks.coding_agents.known.agent import MOD
from amplifier_hooks.coding_agents.self_test import hook
from amplifier_hooks.coding_agents.self_test.context import (
    RESULT,
    CheckContext,
    CheckProblem,
    Finding,
    Spare,
    State,
    describe,
    leave,
    prepare_spare,
)
from amplifier_hooks.coding_agents.self_test.entry import Entry, explain_foreign
from amplifier_hooks.coding_agents.self_test.hook import make_ticket, write_command
from amplifier_hooks.coding_agents.self_test.host import Answer, Event, Host
from amplifier_hooks.external.verdicts import UNCHANGED

_MCP_ONLY = {"cursor": "results of MCP servers only; those of its own tools it has shown already"}
_TAKE_TEXT = (events.TOOL_PRE, events.TOOL_POST, events.PROMPT_SUBMIT)


def deny_call(context: CheckContext, name: str) -> Finding:
    """A tool call that a hook denies must not run, for the reason that the hook gave."""
    if not context.can(events.TOOL_PRE, "deny"):
        return Finding(name, "cannot", f"{context.title} asks nobody before a tool")
    answer = context.host.call(context.make_call("deny"))
    works = answer.blocks and hook.REASON in (answer.verdict.reason or "")
    return context.judge(name, "deny", answer, works=works, how="the model is told the reason")


def deny_prompt(context: CheckContext, name: str) -> Finding:
    """A prompt that a hook denies must not reach the model."""
    if not context.can(events.PROMPT_SUBMIT, "deny"):
        return Finding(
            name, "cannot", f"{context.title} shows prompts to nobody before it uses them"
        )
    event = context.make_prompt("prompt")
    answer = context.host.call(event)
    works = answer.blocks and hook.REASON in (answer.verdict.reason or "")
    return context.judge(name, "prompt", answer, works=works, how=f"at {event.entry.native}")


def rewrite_call(context: CheckContext, name: str) -> Finding:
    """What runs must be what a hook made of the call."""
    if not context.can(events.TOOL_PRE, "rewrite"):
        return Finding(name, "cannot", f"{context.title} takes no changed input")
    event = context.make_call("rewrite")
    answer = context.host.call(event)
    runs = event.call.input if answer.verdict.tool_input is None else answer.verdict.tool_input
    wanted = write_command("rewritten")
    works = not answer.blocks and runs == {"command": wanted}
    how = f"asked {write_command('rewrite')!r}, runs {wanted!r}"
    if works or answer.blocks:
        return context.judge(name, "rewrite", answer, works=works, how=how)
    shown = json.dumps(runs, default=str)[:200]
    return Finding(name, "broken", f"this runs: {shown}")


def inject_text(context: CheckContext, name: str) -> Finding:
    """A text must reach the model: with this event, or with the next one that can carry it."""
    carrier = next((one for one in _TAKE_TEXT if context.can(one, "inject")), None)
    if carrier is None:
        return Finding(name, "cannot", f"{context.title} takes no text for its model from hooks")
    event = context.make_call("inject")
    answer = context.host.call(event)
    if carrier != events.TOOL_PRE and not answer.blocks:
        event = _make_carrier(context, carrier, event)
        answer = context.host.call(event)
    works = any(hook.INJECTED in text for text in answer.verdict.context)
    return context.judge(name, "inject", answer, works=works, how=f"with {event.entry.native}")


def _make_carrier(context: CheckContext, carrier: str, asked: Event) -> Event:
    if carrier == events.PROMPT_SUBMIT:
        return context.make_prompt("carry")
    given = asked.call.input
    call_id = asked.call.tool_call_id
    return context.make_result("carry", tool_input=given, tool_call_id=call_id)


def ask_person(context: CheckContext, name: str) -> Finding:
    """Where a hook wants somebody asked, somebody must be."""
    event = context.make_call("ask")
    answer = context.host.call(event)
    verdict = answer.verdict
    if verdict.decision == "ask" and hook.QUESTION in (verdict.reason or ""):
        return Finding(name, "ok", f"{context.title} asks its person")
    decided = context.ticket.list_reports("decided")
    by = str(decided[0]["by"]) if decided else ""
    if context.ticket.list_reports("handed-over"):
        lost = f"the question was handed over, and {context.title} does not read one"
        return Finding(name, "broken", f"{lost}: {describe(answer)}")
    if decided and decided[0]["how"] in ("person", "rule", "cache"):
        return Finding(name, "ok", f"your bundle has it answered by {by}")
    waited = f"asked elsewhere (amplifier approvals); no answer in {context.seconds:g} s is a no"
    works = answer.blocks and bool(context.ticket.list_reports("ask-elsewhere"))
    if works or not decided:
        return context.judge(name, "ask", answer, works=works, how=waited)
    return Finding(name, "broken", f"nobody could be asked: {describe(answer)}")


def replace_result(context: CheckContext, name: str) -> Finding:
    """The model must read what a hook made of a result, and not the result."""
    if not context.can(events.TOOL_POST, "replace"):
        return Finding(name, "cannot", f"{context.title} has used a result before it tells of it")
    limited = _MCP_ONLY.get(context.host.dialect.name, "")
    event = context.make_result("replace", "mcp__check__echo" if limited else "Bash")
    answer = context.host.call(event)
    shown = _read_shown(context, event, answer)
    works = hook.REPLACED in shown and RESULT not in shown
    if works or answer.blocks:
        how = limited or f"with {event.entry.native}"
        return context.judge(name, "replace", answer, works=works, how=how)
    return Finding(name, "broken", f"the model reads: {shown[:200]}; {answer.describe()}")


def _read_shown(context: CheckContext, event: Event, answer: Answer) -> str:
    """What the model gets to read."""
    verdict = answer.verdict
    if verdict.withhold and verdict.decision == "deny":
        return verdict.reason or ""
    if verdict.output is UNCHANGED or not _is_taken(context, event, verdict.output):
        return RESULT
    return json.dumps(verdict.output, default=str)


def _is_taken(context: CheckContext, event: Event, output: Any) -> bool:
    """Claude Code drops a result that has not the shape of that tool's results."""
    if context.host.dialect.name != "claude":
        return True
    shape = json.loads(context.host.build_payload(event)).get("tool_response")
    return has_shape(shape, output)


_REACH_SECONDS = 30.0
_LIMIT = 50.0
_CALLS = 5


def measure_call(context: CheckContext) -> float:
    """Milliseconds that one call takes from the start of the command to its answer."""
    spent = []
    for number in range(_CALLS):
        event = context.make_call("plain", number + 1)
        began = time.perf_counter()
        context.host.call(event)
        spent.append((time.perf_counter() - began) * 1000)
    return median(spent)


def crash_client(context: CheckContext, name: str) -> Finding:
    """The command is killed while it waits for the answer, at every gate."""
    gates = context.make_gates("crash")
    if any(event.entry.by_http for event in gates.values()):
        return Finding(name, "cannot", "there is no command: events are sent by HTTP")
    shots = [(case, event, context.host.fire(event, _LIMIT)) for case, event in gates.items()]
    answers = {}
    for case, event, shot in shots:
        if context.ticket.wait_for_report(case, _REACH_SECONDS):
            shot.kill_client()
        answers[case] = _locate(event, context.host.read(event, shot))
        context.ticket.report(f"free-{case}")
    found = _find_open(context, name, answers)
    if found is not None:
        return found
    for case in answers:
        context.ticket.wait_for_report(f"freed-{case}", _REACH_SECONDS)
    return Finding(name, "ok", f"killed while it waited at {_list_natives(gates)}")


def time_out(context: CheckContext, name: str) -> Finding:
    """A hook hangs: our own limit must come before the agent's, which lets the call run."""
    gates = context.make_gates("hang")
    for event in gates.values():
        ours = event.entry.seconds
        theirs = event.entry.handler.timeout
        if ours is not None and ours >= theirs and not event.entry.handler.fail_closed:
            lost = f"at {event.entry.native} {context.title} gives up after {theirs:g} s"
            return Finding(name, "broken", f"{lost}, and goes on; our own limit is {ours:g} s")
    shots = [
        (case, event, context.host.fire(event, context.seconds)) for case, event in gates.items()
    ]
    answers = {case: _locate(event, context.host.read(event, shot)) for case, event, shot in shots}
    found = _find_open(context, name, answers)
    return found or Finding(name, "ok", f"after {context.seconds:g} s at {_list_natives(gates)}")


def _find_open(context: CheckContext, name: str, answers: Mapping[str, Answer]) -> Finding | None:
    """The first gate that was not judged, or that let its event through."""
    for case, answer in answers.items():
        if not answer.blocks or not context.ticket.list_reports(case):
            return context.judge(name, case, answer, works=False, how="")
    return None


def _list_natives(gates: Mapping[str, Event]) -> str:
    return ", ".join(event.entry.native for event in gates.values())


def _locate(event: Event, answer: Answer) -> Answer:
    """The answer, with the name of the event before what it says."""
    reply = replace(answer.reply, failure=f"{event.entry.native}: {answer.describe()}")
    return Answer(replace(answer.verdict, reason=None), reply)


def kill_resident(context: CheckContext, name: str) -> Finding:
    """The process that judges is killed in the middle; it is one that only the check uses."""
    with prepare_spare(context.folder) as spare:
        ticket = make_ticket(spare.folder, context.seconds)
        host = context.host.move_to(spare.folder, spare.port, ticket.session_id)
        played = CheckContext(host, ticket, context.title, spare.folder, context.seconds)
        try:
            return _kill_resident(played, spare, name)
        finally:
            leave(host, ticket, spare.folder)


def _kill_resident(context: CheckContext, spare: Spare, name: str) -> Finding:
    event = context.make_call("die")
    if event.entry.by_http:
        context.host.start_session()  # by a command, which starts the process
    shot = context.host.fire(event, _LIMIT)
    pid = spare.find_pid() if context.ticket.wait_for_report("die", _REACH_SECONDS) else None
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    answer = context.host.read(event, shot)
    if pid is None:
        return Finding(name, "broken", f"a process of its own did not judge: {describe(answer)}")
    judged = hook.AGAIN in (answer.verdict.reason or "")
    how = "the next process judged the call" if judged else f"blocked: {answer.describe()}"
    return context.judge(name, "die", answer, works=answer.blocks, how=f"killed; {how}")


def call_twice(context: CheckContext, name: str) -> Finding:
    """Two calls are judged at the same time, and each gets its own answer."""
    both = [(case, context.make_call(case)) for case in ("one", "other")]
    shots = [(case, event, context.host.fire(event, _LIMIT)) for case, event in both]
    answers = [(case, context.host.read(event, shot)) for case, event, shot in shots]
    for case, answer in answers:
        works = answer.blocks and (answer.verdict.reason or "").endswith(f": {case}")
        if not works:
            return context.judge(name, case, answer, works=False, how="")
    return Finding(name, "ok", "each has its own answer")


def answer_at_all(context: CheckContext, name: str) -> Finding:
    """An event reaches the hooks of a session, and an answer comes back."""
    event = context.make_call("plain")
    answer = context.host.call(event)
    works = not answer.blocks and bool(context.ticket.list_reports("plain"))
    return context.judge(name, "plain", answer, works=works, how=f"at {event.entry.native}")


Line = Callable[[CheckContext, str], Finding]

SECONDS = 2.0
FIRST = "the guard answers"
LAST = "{title} calls the guard"
LINES: Mapping[str, Line] = {
    "a denied tool call does not run": deny_call,
    "a denied prompt does not reach the model": deny_prompt,
    "a rewritten tool call runs as rewritten": rewrite_call,
    "injected text reaches the model": inject_text,
    "a question is put to a person": ask_person,
    "a tool's result is replaced": replace_result,
    "two calls at once get their own answers": call_twice,
    "a crash of the command blocks": crash_client,
    "a time-out blocks": time_out,
    "the death of the resident process blocks": kill_resident,
}
_SLOW = (ask_person, time_out, kill_resident)
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
        first = _try(answer_at_all, context, FIRST)
        yield first
        if first.fails:
            yield from _leave_out()
            return
        self.milliseconds = measure_call(context)
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
