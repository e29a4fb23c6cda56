"""Replays a recorded session with today's hooks, in a process that can write and send nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from amplifier_audit.encoding import encode_body
from amplifier_core.errors import AmplifierError
from amplifier_core.models import Level
from amplifier_core.session import AmplifierSession
from amplifier_core.trail import Level as AuditLevel
from amplifier_core.trail import OnFailure
from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.insight.replay.comparison import Difference, Totals
from amplifier_hooks.insight.replay.driver import Driver, Open, State, VirtualTimeLoop
from amplifier_hooks.insight.replay.plan import ReplayLoader, Substitutes, build_plan, list_acting
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_answers import RecordedApprovals, has_nobody
from amplifier_hooks.insight.replay.recording import CannotReplay, Recording, read_recording
from amplifier_hooks.insight.worker import Message, Send, WorkerError, run_worker
from amplifier_hooks.modules.clock import CAPABILITY
from amplifier_hooks.sandbox.protection import examine_machine
from amplifier_hooks.trails import RecordedHook, read_items


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
