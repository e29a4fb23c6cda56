"""Has a backtest done by a process of its own, which can write and send nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from amplifier_core.errors import AmplifierError
from amplifier_hooks.insight.backtest.counts import Tally
from amplifier_hooks.insight.backtest.policy import (
    BOOK,
    Policy,
    PolicyError,
    PolicySource,
    load_policy,
)
from amplifier_hooks.insight.backtest.trail_run import Window, backtest_trails
from amplifier_hooks.insight.worker import Message, Send, WorkerError, run_worker
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.sandbox.protection import Protection, examine_machine


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy, and the digest of what a person has seen of it."""

    source: PolicySource
    digest: str

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """Of a policy that was read here."""
        return cls(policy.source, policy.digest)

    def load(self, folder: Path, scratch: Path) -> Policy:
        """Read it again, in another process; PolicyError if it has changed since."""
        policy = load_policy(self.source, folder, scratch)
        if policy.digest != self.digest:
            raise PolicyError("The files of the policy have changed meanwhile; start again")
        return policy


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides what a backtest finds."""

    folder: Path
    trails: tuple[Path, ...]
    policy: Candidate
    baseline: Candidate | None = None
    window: Window = field(default_factory=Window)
    examples: int = 3

    @property
    def digest(self) -> str:
        """Of all but the trails: what was found in one of them holds as long as this stays."""
        values = {key: one for key, one in self.to_dict(Path()).items() if key != "trails"}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def to_dict(self, scratch: Path) -> dict[str, Any]:
        """For another process, whose hooks may write below `scratch`."""
        return {
            "folder": str(self.folder),
            "trails": [str(one) for one in self.trails],
            "policies": [
                {"source": one.source.to_dict(), "digest": one.digest}
                for one in (self.policy, self.baseline)
                if one is not None
            ],
            "window": [self.window.since, self.window.until],
            "examples": self.examples,
            "scratch": str(scratch),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        policy, *others = (
            Candidate(PolicySource.from_dict(one["source"]), one["digest"])
            for one in values["policies"]
        )
        return cls(
            folder=Path(values["folder"]),
            trails=tuple(map(Path, values["trails"])),
            policy=policy,
            baseline=others[0] if others else None,
            window=Window(*values["window"]),
            examples=values["examples"],
        )


VERSION = 1
_PAUSE = 1.0
"""Seconds between two writes."""


class StateFile:
    """Keeps the results of finished trails, as long as neither they nor the policy change."""

    def __init__(self, path: Path, digest: str, *, temporary: bool = False) -> None:
        self.path = path
        self._temporary = temporary
        self._digest = digest
        self._written = 0.0
        self._trails: dict[str, Any] = {}
        self.spent = ""
        """What the day's book of costs had after the last finished trail."""
        self._read()

    def _read(self) -> None:
        try:
            values = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return
        if not _is_state(values) or values["version"] != VERSION:
            return
        if values["digest"] == self._digest:
            self._trails = values["trails"]
            self.spent = values["spent"]

    def find(self, trail: Path) -> Tally | None:
        """What was found in a trail, if it has not changed since."""
        known = self._trails.get(str(trail))
        try:
            if known is None or known["stamp"] != stamp_trail(trail):
                return None
            return Tally.from_dict(known["tally"])
        except (KeyError, TypeError):  # somebody edited the file: look at the trail again
            return None

    def keep(self, trail: Path, tally: Tally, spent: str = "") -> None:
        """Keep what was found in a trail."""
        self._trails[str(trail)] = {"stamp": stamp_trail(trail), "tally": tally.to_dict()}
        self.spent = spent
        if time.monotonic() - self._written > _PAUSE:
            self.write()

    def write(self) -> None:
        """Write everything down, if there is anything."""
        if not self._trails:
            return
        values = {
            "version": VERSION,
            "digest": self._digest,
            "trails": self._trails,
            "spent": self.spent,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, json.dumps(values).encode(), mode=0o600, sync=False)
        self._written = time.monotonic()

    def finish(self) -> None:
        """All is done: nobody has to go on from a file that nobody named."""
        if self._temporary:
            self.path.unlink(missing_ok=True)


def is_foreign_file(path: Path) -> bool:
    """Whether there is a file that no backtest has written: it must not be replaced."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return False
    try:
        return bool(content) and not _is_state(json.loads(content))
    except ValueError:
        return True


def _is_state(values: Any) -> bool:
    if not isinstance(values, dict) or values.keys() != {"version", "digest", "trails", "spent"}:
        return False
    return isinstance(values["trails"], dict) and isinstance(values["spent"], str)


def stamp_trail(trail: Path) -> list[list[Any]]:
    """The names, sizes and times of a trail's files: whether it is still the same."""
    files = sorted(trail.glob("*.jsonl")) if trail.is_dir() else [trail]
    stats = [(path.name, path.stat()) for path in files]
    return [[name, found.st_size, found.st_mtime_ns] for name, found in stats]


@dataclass(slots=True)
class Findings:
    """What is known so far: of each trail, as a whole or in part."""

    job: Job
    protection: Protection
    done: dict[Path, Tally] = field(default_factory=dict)
    remembered: int = 0
    """Trails whose results an earlier run had found."""
    partly: tuple[Path, Tally] | None = None
    """The trail that is being read, and what was found in it so far."""

    @property
    def is_complete(self) -> bool:
        """Whether all trails were read to their end."""
        return len(self.done) == len(self.job.trails)

    def add_up(self) -> Tally:
        """The figures of everything, in the order of the trails."""
        total = Tally(most_examples=self.job.examples)
        for path in self.job.trails:
            if path in self.done:
                total.add(self.done[path])
            elif self.partly is not None and self.partly[0] == path:
                total.add(self.partly[1])
        return total


Progress = Callable[[int], None]
"""Told of the bytes that were read, of all trails."""


class Launch:
    """One run of the process that hooks are tried in."""

    def __init__(self, job: Job, state: StateFile, progress: Progress = lambda read: None) -> None:
        self._state = state
        self.progress = progress
        self._failure = ""
        self._before = 0
        self.findings = Findings(job, examine_machine())
        for trail in job.trails:
            if (known := state.find(trail)) is not None:
                self.findings.done[trail] = known
                self._before += measure_trail(trail)
        self.findings.remembered = len(self.findings.done)

    async def run(self) -> Findings:
        """Have done what is not done yet; PolicyError if the policy cannot be tried."""
        job = self.findings.job
        todo = tuple(one for one in job.trails if one not in self.findings.done)
        if todo:
            try:
                await self._launch(replace(job, trails=todo))
            finally:
                self._state.write()
        self._state.finish()
        return self.findings

    async def _launch(self, job: Job) -> None:
        def make_job(scratch: Path) -> Message:
            (scratch / "other").mkdir()
            if self._state.spent:
                (scratch / BOOK).write_text(self._state.spent)
            return job.to_dict(scratch)

        try:
            await run_worker(
                __name__, job.folder, self.findings.protection, make_job, self._receive
            )
        except WorkerError as error:
            raise PolicyError(self._failure or str(error)) from error
        if self._failure:
            raise PolicyError(self._failure)

    def _receive(self, message: Message) -> None:
        kind = message["kind"]
        if kind == "failed":
            self._failure = message["why"]
        elif kind == "progress":
            self.progress(self._before + message["read"])
            if "tally" in message:
                self.findings.partly = Path(message["trail"]), Tally.from_dict(message["tally"])
        else:
            self._keep_trail(Path(message["trail"]), message)

    def _keep_trail(self, trail: Path, message: Message) -> None:
        tally = Tally.from_dict(message["tally"])
        self.findings.done[trail] = tally
        self.findings.partly = None
        self._state.keep(trail, tally, message["spent"])
        self._before += measure_trail(trail)
        self.progress(self._before)


def measure_trail(trail: Path) -> int:
    """The bytes of a trail."""
    files = trail.glob("*.jsonl") if trail.is_dir() else [trail]
    return sum(path.stat().st_size for path in files)


# In the process that hooks are tried in

_PROGRESS_PAUSE = 0.2
"""Seconds between two messages about progress."""
_TALLY_PAUSE = 2.0
"""Seconds between two looks at what was found so far: it may have to do."""


class Reporter:
    """Sends how far the work is, and not too often."""

    def __init__(self, send: Send, now: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._now = now
        self._next = now() + _PROGRESS_PAUSE
        self._next_tally = now() + _TALLY_PAUSE

    def report(self, path: Path, read: int, tally: Tally) -> None:
        """So many bytes of a trail were read, and this was found in it."""
        now = self._now()
        if now < self._next:
            return
        self._next = now + _PROGRESS_PAUSE
        found: dict[str, Any] = {"kind": "progress", "trail": str(path), "read": read}
        if now >= self._next_tally:
            self._next_tally = now + _TALLY_PAUSE
            found["tally"] = tally.to_dict()
        self._send(found)


async def run_job(values: Message, send: Send) -> None:
    """Do a job; AmplifierError if its policy cannot be loaded or mounted."""
    job = Job.from_dict(values)
    scratch = Path(values["scratch"])
    policy = job.policy.load(job.folder, scratch)
    baseline = None if job.baseline is None else job.baseline.load(job.folder, scratch / "other")
    found = backtest_trails(
        job.trails,
        policy,
        baseline,
        window=job.window,
        examples=job.examples,
        report=Reporter(send).report,
    )
    book = scratch / BOOK
    async for path, tally in found:
        spent = await asyncio.to_thread(_read_if_there, book)
        send({"kind": "trail", "trail": str(path), "tally": tally.to_dict(), "spent": spent})


def _read_if_there(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def work(values: Message, send: Send) -> None:
    """Do a job in the process that was started for it."""
    try:
        asyncio.run(run_job(values, send))
    except AmplifierError as error:
        send({"kind": "failed", "why": str(error)})
