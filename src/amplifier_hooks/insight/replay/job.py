"""Replays a recorded session with today's hooks, in a process that can write and send nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
import selectors
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from amplifier_audit.encoding import encode_body
from amplifier_core.errors import AmplifierError, ModuleError
from amplifier_core.events import AGENT_SPAWN
from amplifier_core.models import Level
from amplifier_core.session import AmplifierSession
from amplifier_core.tool_call import call_tool, start_call
from amplifier_core.trail import Level as AuditLevel
from amplifier_core.trail import OnFailure
from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle
from amplifier_hooks.agent.loops.model_call import compact_now
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.insight.replay.comparison import Difference, Totals, find_injection
from amplifier_hooks.insight.replay.plan import ReplayLoader, Substitutes, build_plan, list_acting
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_answers import RecordedApprovals, has_nobody
from amplifier_hooks.insight.replay.recorded_calls import read_call
from amplifier_hooks.insight.replay.recording import (
    CannotReplay,
    Recording,
    Run,
    Step,
    list_steps,
    read_recording,
)
from amplifier_hooks.insight.worker import Message, Send, WorkerError, run_worker
from amplifier_hooks.modules.clock import CAPABILITY
from amplifier_hooks.sandbox.protection import examine_machine
from amplifier_hooks.trails import RecordedEvent, RecordedHook, read_items

_POLL = 0.05
"""Seconds that the loop waits at once for threads, which run in real time."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop with a clock of its own, which stands still while something can be done."""

    def __init__(self) -> None:
        self._now = 0.0
        self._threads = 0
        self.on_idle: Callable[[], bool] = lambda: False
        """Called when everybody waits, before time passes; True if it has found something to do."""
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Seconds since the loop was made, most of which never passed."""
        return self._now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        """As usual; timers wait for threads as they would elsewhere."""
        future = super().run_in_executor(executor, func, *args)
        self._threads += 1
        future.add_done_callback(self._end_thread)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """As usual, without a limit: it would pass at once while the threads end in real time."""
        await super().shutdown_default_executor()

    def _end_thread(self, _: object) -> None:
        self._threads -= 1

    def wait(self, real: selectors.BaseSelector, timeout: float | None) -> list[Any]:
        """Wait for files as a selector does, or let the time pass at once."""
        if timeout is not None and timeout <= 0:
            return real.select(0)
        if self._threads:
            started = time.monotonic()
            found = real.select(_POLL if timeout is None else min(timeout, _POLL))
            self._now += time.monotonic() - started
            return found
        found = real.select(0)
        if not found and not self.on_idle():
            if timeout is None:
                return real.select(_POLL)
            self._now += timeout
        return found


class _Selector(selectors.BaseSelector):
    """A selector whose waiting is up to the loop."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._real = selectors.DefaultSelector()
        self._loop = loop

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return self._loop.wait(self._real, timeout)

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Any:
        return self._real.get_map()


State = Mapping[str, Any]
Open = Callable[[State | None], Awaitable[AmplifierSession]]
"""Opens a session of today's plan; the state is what an earlier process of it left."""


class Driver:
    """Takes a replay from its first step to its last, or to the first difference."""

    def __init__(self, playback: Playback, open_session: Open) -> None:
        self._playback = playback
        self._open = open_session
        self._session: AmplifierSession | None = None
        self._step: asyncio.Task[Any] | None = None
        self._states: list[State] = []

    async def drive(self) -> None:
        """Replay all processes of the recording."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualTimeLoop):
            loop.on_idle = self._end_hanging
        self._playback.on_stop = self._break_off
        self._playback.cancel = self._cancel
        for run in self._playback.recording.list_runs():
            if not self._playback.stopped:
                await self._replay(run)

    async def _replay(self, run: Run) -> None:
        self._playback.begin(run)
        try:
            if await self._run_step(self._start(run)):
                for step in list_steps(run):
                    if not self._playback.is_left(step.event):
                        continue  # a hook did it, as it did then
                    await self._run_step(self._perform(step))
                    await self._keep_state()
                await self._run_step(self._end(run))
        finally:
            await self._close()
        self._playback.finish_run()

    async def _run_step(self, work: Any) -> bool:
        """Do one thing in a task that can be broken off; whether it came to its end."""
        if self._playback.stopped:
            work.close()
            return False
        self._step = asyncio.get_running_loop().create_task(work)
        try:
            await asyncio.wait([self._step])
            if self._step.cancelled():
                return False
            error = self._step.exception()
        finally:
            self._step.cancel()
        if isinstance(error, CannotReplay | ModuleError):
            raise error
        return error is None  # what a turn raises is in the recording as well

    def _end_hanging(self) -> bool:
        """Break off what was broken off then; what a time limit ended is left to that."""
        if not self._playback.hangs:
            return False
        self._break_off()
        return True

    def _break_off(self) -> None:
        if self._step is not None:
            self._step.cancel()

    async def _cancel(self, immediate: bool) -> None:
        if self._session is not None:
            await self._session.coordinator.request_cancel(immediate)

    # Steps

    async def _start(self, run: Run) -> None:
        state = self._choose_state(run) if run.resumed else None
        self._session = await self._open(state)
        await self._session.start()

    def _choose_state(self, run: Run) -> State | None:
        """What the earlier process had saved: the state with as many messages as were resumed."""
        for one in run.items:
            if isinstance(one, RecordedEvent) and one.event == "session:resume":
                count = one.data.get("messages_count")
                fits = [state for state in self._states if len(state["messages"]) == count]
                if fits:
                    return fits[-1]
        if not self._states:
            raise CannotReplay(
                "The trail begins in the middle of a session: what was said before is not in it"
            )
        return self._states[-1]

    async def _perform(self, step: Step) -> None:
        session = self._session
        assert session is not None
        if step.kind == "prompt":
            await session.execute(str(step.data.get("prompt")), step.data.get("metadata") or {})
        elif step.kind == "call":
            await call_tool(session.coordinator, read_call(step.data))
        elif step.kind == "compact":
            await compact_now(session.context)
        elif step.kind == "cancel":
            await session.coordinator.request_cancel(step.data.get("immediate") is True)
        elif step.kind == "late":
            await self._deny_late(session, step)
        else:
            await self._emit(session, step)

    async def _emit(self, session: AmplifierSession, step: Step) -> None:
        """Tell hooks of an event as an application did, or a program that ran the agent."""
        name: Any = step.event.event
        outcome = await session.coordinator.judge(name, step.data)
        if not outcome.allowed:
            return
        if step.kind == "start":
            left = dict(outcome.data or {})
            await start_call(session.coordinator, outcome, left, same_tool=True)
        elif name == AGENT_SPAWN and self._has_told_agent(step.event.session):
            await session.coordinator.inject_answers(AGENT_SPAWN, list(outcome.answers))

    def _has_told_agent(self, session: str) -> bool:
        """Whether the session itself was told what hooks said to a sub-agent."""
        left = self._playback.list_left(session)
        return any(find_injection(one) and one.event == AGENT_SPAWN for one in left)

    async def _deny_late(self, session: AmplifierSession, step: Step) -> None:
        """Deny once more what hooks took too long to judge: the trail does not say what it was."""
        event, hook, why = (str(step.data.get(name)) for name in ("event", "hook", "reason"))
        self._playback.note_doubt(step.event, [f"what hooks had to judge at {event} is missing"])
        await session.coordinator.deny(event, hook, why)

    async def _end(self, run: Run) -> None:
        assert self._session is not None
        suspend = getattr(self._session, "suspend", None)
        if run.end == "suspended" and suspend is not None:
            await suspend()
        elif run.end == "ended":
            reason: Any = run.reason
            await self._session.cleanup(reason)

    async def _keep_state(self) -> None:
        if self._session is not None and not self._playback.stopped:
            self._states.append(await self._session.state())

    async def _close(self) -> None:
        """End the session whatever has happened; nobody compares this."""
        session = self._session
        self._session = None
        if session is None:
            return
        stopped = self._playback.stopped
        self._playback.stopped = True
        with suppress(Exception):
            await session.cleanup()
        self._playback.stopped = stopped


class ReplaySink:
    """Takes the records of a replayed session."""

    level: AuditLevel = "normal"
    on_failure: OnFailure = "warn"

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._count = 0

    def append(
        self,
        type: str,
        body: Mapping[str, Any],
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> int:
        """Compare the record, as a log would have it, with what was recorded then."""
        self._count += 1
        if self._playback.stopped:
            return self._count
        record = {
            "seq": self._count,
            "time": "",
            "session": self._playback.find_session(session),
            "turn": turn,
            "event": event,
            "hook": hook,
            "registration": registration,
            "type": type,
            "body": self._playback.translate(json.loads(encode_body(body))),
        }
        for item in read_items([record]):
            if not isinstance(item, RecordedHook):
                self._playback.compare_next(item)
        return self._count

    async def commit(self, sequence: int | None = None) -> None:
        """There is nothing to wait for."""

    async def close(self) -> None:
        """There is nothing to close."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a replay."""

    session: str
    differences: tuple[Difference, ...]
    totals: Totals
    broken_off: bool = False
    """Whether the recording ends in the middle of something."""
    not_run: dict[str, str] = field(default_factory=dict)
    """The modules of today that do not run in a replay, each with the reason."""
    walled: bool = True
    """Whether the machine kept hooks from writing and sending."""

    @property
    def status(self) -> Literal["identical", "differs"]:
        """Whether everything happened as it did then."""
        return "differs" if self.differences else "identical"

    def to_dict(self) -> dict[str, Any]:
        """For another process."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Replay:
        """The reverse of `to_dict`."""
        differences = tuple(Difference.from_dict(one) for one in values["differences"])
        totals = Totals.from_dict(values["totals"])
        return cls(**{**values, "differences": differences, "totals": totals})


class SilentDisplay:
    """Nobody looks."""

    def show_message(self, message: str, level: Level, source: str) -> None:
        """What is shown in a replay was shown before."""


def replay_session(
    recording: Recording, material: Material, scratch: Path, *, keep_going: bool = False
) -> Replay:
    """Replay a recording with the hooks of a bundle that a person has trusted.

    Hooks of ours that keep files have them in `scratch`. What the person's own hooks do, they do:
    `launch_replay` runs all of this in a process that can write and send nothing.
    """
    found = run_replay(
        recording,
        lambda playback: _open_with(playback, material, scratch),
        keep_going=keep_going,
    )
    return replace(found, not_run=list_acting(material.bundle.mount_plan))


def run_replay(
    recording: Recording, make_open: Callable[[Playback], Open], *, keep_going: bool = False
) -> Replay:
    """Replay a recording in sessions that somebody opens."""
    playback = Playback(recording, keep_going=keep_going)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(Driver(playback, make_open(playback)).drive())
    return Replay(
        recording.root,
        tuple(playback.differences),
        playback.totals,
        recording.list_runs()[-1].end == "broken off",
    )


def _open_with(playback: Playback, material: Material, scratch: Path) -> Open:
    recording = playback.recording
    substitutes = Substitutes(playback, material.bundle.mount_plan)
    folder = Path(recording.header.folder or material.folder)
    bundle = material.bundle.changed(lambda plan: build_plan(plan, scratch))
    approvals = None if has_nobody(recording) else RecordedApprovals(playback)

    def prepare(session: AmplifierSession) -> None:
        install_substitutes(session, playback, substitutes)

    async def open_one(state: State | None) -> AmplifierSession:
        return await open_session(
            bundle,
            session_id=recording.root,
            approval_system=approvals,
            display_system=SilentDisplay(),
            working_dir=folder,
            resume=state,
            audit=ReplaySink(playback),
            hot_reload=False,
            material=material,
            prepare=prepare,
        )

    return open_one


def install_substitutes(
    session: AmplifierSession, playback: Playback, substitutes: Substitutes
) -> None:
    """Give a session the recorded time, and substitutes for what acts."""
    session.coordinator.register_capability(CAPABILITY, playback.get_time)
    substitutes.watch(session.coordinator.hooks)
    before = session.mounting.loader
    loader = ReplayLoader(substitutes, base=before.base, sources=before.sources)
    session.loader = session.coordinator.loader = session.mounting.loader = loader


class ReplayFailed(AmplifierError):
    """A replay came to no end; the message says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides what a replay finds."""

    trail: str
    folder: str
    """Where today's bundle is found."""
    bundle: str = ""
    """Its file, where it is not the one of the folder."""
    digest: str = ""
    """Of what a person has trusted."""
    recorded: str = ""
    """The digest of the bundle that the session had."""
    keep_going: bool = False
    scratch: str = ""
    """Where hooks may write."""

    def to_dict(self) -> dict[str, Any]:
        """For another process."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        return cls(**values)

    def load(self) -> Material:
        """Read what the bundle runs; ReplayFailed if that is not what a person has trusted."""
        material = collect_material(self._load_bundle(), Path(self.folder))
        if self.digest and digest_material(material) != self.digest:
            raise ReplayFailed("The files of the bundle have changed meanwhile; start again")
        return material

    def _load_bundle(self) -> Bundle:
        """Today's bundle, over what the recorded one stood on: a program may leave that out."""
        path = Path(self.bundle) if self.bundle else None
        usual = load_bundle(path, project_dir=self.folder)
        if self.recorded in ("", usual.digest):
            return usual
        for user, defaults in ((True, False), (False, True), (False, False)):
            with suppress(BundleError):  # some are whole only with the rest
                found = load_bundle(path, project_dir=self.folder, user=user, defaults=defaults)
                if found.digest == self.recorded:
                    return found
        return usual


def digest_material(material: Material) -> str:
    """Of everything that a bundle runs, and its plan."""
    parts = (material.bundle.digest, material.digest, material.rest)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


async def launch_replay(job: Job) -> Replay:
    """Replay in a process of its own; CannotReplay or ReplayFailed if it cannot be done."""
    protection = examine_machine()
    messages: list[Message] = []

    def make_job(scratch: Path) -> Message:
        return replace(job, scratch=str(scratch)).to_dict()

    try:
        await run_worker(__name__, Path(job.folder), protection, make_job, messages.append)
    except WorkerError as error:
        raise ReplayFailed(f"The session cannot be replayed: {error}") from error
    (message,) = messages
    if message["kind"] == "cannot":
        raise CannotReplay(message["why"])
    if message["kind"] == "failed":
        raise ReplayFailed(f"The session cannot be replayed: {message['why']}")
    return replace(Replay.from_dict(message["found"]), walled=protection.kind is not None)


# In the process that hooks are tried in


def work(values: Message, send: Send) -> None:
    """Do a job in the process that was started for it."""
    send(do_job(Job.from_dict(values)))


def do_job(job: Job) -> Message:
    """What a job found, or why it could not be done."""
    try:
        recording = read_recording(Path(job.trail))
        found = replay_session(recording, job.load(), Path(job.scratch), keep_going=job.keep_going)
    except CannotReplay as error:
        return {"kind": "cannot", "why": str(error)}
    except Exception as error:  # noqa: BLE001 - the process that waits tells the person
        return {"kind": "failed", "why": f"{type(error).__name__}: {error}"}
    return {"kind": "found", "found": found.to_dict()}
