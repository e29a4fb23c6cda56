"""Has a replay done by a process of its own, which can write and send nothing."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from amplifier_core.errors import AmplifierError
from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.insight.replay.recording import CannotReplay, read_recording
from amplifier_hooks.insight.replay.replay import Replay, replay_session
from amplifier_hooks.insight.worker import Message, Send, WorkerError, run_worker
from amplifier_hooks.sandbox.protection import examine_machine


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
