"""The lines about failures: whatever dies or hangs, nothing may run unjudged."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from statistics import median

from amplifier_hooks.coding_agents.self_test import hook
from amplifier_hooks.coding_agents.self_test.context import (
    CheckContext,
    Finding,
    Spare,
    describe,
    leave,
    prepare_spare,
)
from amplifier_hooks.coding_agents.self_test.hook import make_ticket
from amplifier_hooks.coding_agents.self_test.host import Answer, Event

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
