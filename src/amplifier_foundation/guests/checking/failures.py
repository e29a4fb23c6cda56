"""The lines about failures: whatever dies or hangs, nothing may run unjudged."""

from __future__ import annotations

import os
import signal
import time
from statistics import median

from amplifier_foundation.guests.checking import hook
from amplifier_foundation.guests.checking.finding import Finding
from amplifier_foundation.guests.checking.leaving import leave
from amplifier_foundation.guests.checking.scene import Scene, describe
from amplifier_foundation.guests.checking.spare import Spare, prepare_spare
from amplifier_foundation.guests.checking.ticket import make_ticket

_REACH_SECONDS = 30.0
_LIMIT = 50.0
_CALLS = 5


def measure_call(scene: Scene) -> float:
    """Milliseconds that one call takes from the start of the command to its answer."""
    spent = []
    for number in range(_CALLS):
        event = scene.make_call("plain", number + 1)
        began = time.perf_counter()
        scene.host.call(event)
        spent.append((time.perf_counter() - began) * 1000)
    return median(spent)


def crash_client(scene: Scene, name: str) -> Finding:
    """The command is killed while it waits for the answer."""
    event = scene.make_call("crash")
    if event.entry.by_http:
        return Finding(name, "cannot", "there is no command: events are sent by HTTP")
    shot = scene.host.fire(event, _LIMIT)
    if scene.ticket.wait_for_report("crash", _REACH_SECONDS):
        shot.kill_client()
    answer = scene.host.read(event, shot)
    scene.ticket.report("free-crash")
    scene.ticket.wait_for_report("freed-crash", _REACH_SECONDS)
    how = f"killed while it waited: {answer.describe()}"
    works = answer.blocks and bool(scene.ticket.list_reports("crash"))
    return scene.judge(name, "crash", answer, works=works, how=how)


def time_out(scene: Scene, name: str) -> Finding:
    """A hook hangs: our own limit must come before the agent's, which lets the call run."""
    event = scene.make_call("hang")
    ours, theirs = event.entry.seconds, event.entry.handler.timeout
    if ours is not None and ours >= theirs and not event.entry.handler.fail_closed:
        lost = f"{scene.title} gives up after {theirs:g} s and lets the call run"
        return Finding(name, "broken", f"{lost}; our own limit is {ours:g} s")
    answer = scene.host.call(event, scene.seconds)
    works = answer.blocks and bool(scene.ticket.list_reports("hang"))
    limits = "" if ours is None else f"; as installed {ours:g} s of the agent's {theirs:g} s"
    how = f"blocked after {scene.seconds:g} s{limits}"
    return scene.judge(name, "hang", answer, works=works, how=how)


def kill_resident(scene: Scene, name: str) -> Finding:
    """The process that judges is killed in the middle; it is one that only the check uses."""
    with prepare_spare(scene.folder) as spare:
        ticket = make_ticket(spare.folder, scene.seconds)
        host = scene.host.move_to(spare.folder, spare.port, ticket.session_id)
        played = Scene(host, ticket, scene.title, spare.folder, scene.seconds)
        try:
            return _kill_resident(played, spare, name)
        finally:
            leave(host, ticket, spare.folder)


def _kill_resident(scene: Scene, spare: Spare, name: str) -> Finding:
    event = scene.make_call("die")
    if event.entry.by_http:
        scene.host.start_session()  # by a command, which starts the process
    shot = scene.host.fire(event, _LIMIT)
    pid = spare.find_pid() if scene.ticket.wait_for_report("die", _REACH_SECONDS) else None
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    answer = scene.host.read(event, shot)
    if pid is None:
        return Finding(name, "broken", f"a process of its own did not judge: {describe(answer)}")
    judged = hook.AGAIN in (answer.verdict.reason or "")
    how = "the next process judged the call" if judged else f"blocked: {answer.describe()}"
    return scene.judge(name, "die", answer, works=answer.blocks, how=f"killed; {how}")


def call_twice(scene: Scene, name: str) -> Finding:
    """Two calls are judged at the same time, and each gets its own answer."""
    both = [(case, scene.make_call(case)) for case in ("one", "other")]
    shots = [(case, event, scene.host.fire(event, _LIMIT)) for case, event in both]
    answers = [(case, scene.host.read(event, shot)) for case, event, shot in shots]
    for case, answer in answers:
        works = answer.blocks and (answer.verdict.reason or "").endswith(f": {case}")
        if not works:
            return scene.judge(name, case, answer, works=False, how="")
    return Finding(name, "ok", "each has its own answer")


def answer_at_all(scene: Scene, name: str) -> Finding:
    """An event reaches the hooks of a session, and an answer comes back."""
    event = scene.make_call("plain")
    answer = scene.host.call(event)
    works = not answer.blocks and bool(scene.ticket.list_reports("plain"))
    return scene.judge(name, "plain", answer, works=works, how=f"at {event.entry.native}")
