"""Has a backtest done by a process of its own, which can write and send nothing."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from amplifier_hooks.insight.backtest.counts import Tally
from amplifier_hooks.insight.backtest.policy import (
    BOOK,
    Policy,
    PolicyError,
    PolicySource,
    load_policy,
)
from amplifier_hooks.insight.backtest.trail_run import Window
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.protection import Protection, examine_machine
from amplifier_hooks.sandbox.wall import Wall


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
            self._trails, self.spent = values["trails"], values["spent"]

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


def holds_something_else(path: Path) -> bool:
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


_LONGEST = 30 * 24 * 3600.0
_KEPT = 20_000
"""Bytes of the worker's last words that are kept for an error."""
_DISTURBED = (
    "A hook has written into the pipe that results come through, so they are not to be relied on"
)


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


Tell = Callable[[int], None]
"""Told of the bytes that were read, of all trails."""


class Launch:
    """One run of the worker."""

    def __init__(self, job: Job, state: StateFile, tell: Tell = lambda read: None) -> None:
        self._state = state
        self.tell = tell
        self._rest = ""
        self._failure = ""
        self._finished = False
        self._before = 0
        self.findings = Findings(job, examine_machine())
        for trail in job.trails:
            if (known := state.find(trail)) is not None:
                self.findings.done[trail] = known
                self._before += measure_trail(trail)
        self.findings.remembered = len(self.findings.done)

    async def run(self) -> Findings:
        """Have the worker do what is not done yet; PolicyError if the policy cannot be tried."""
        job = self.findings.job
        todo = tuple(one for one in job.trails if one not in self.findings.done)
        if todo:
            try:
                with tempfile.TemporaryDirectory(prefix="amplifier-backtest-") as folder:
                    await self._launch(replace(job, trails=todo), _resolve(folder))
            finally:
                self._state.write()
        self._state.finish()
        return self.findings

    async def _launch(self, job: Job, folder: Path) -> None:
        scratch, temporary = folder / "scratch", folder / "tmp"
        for one in (scratch, scratch / "other", temporary):
            one.mkdir()
        if self._state.spent:
            (scratch / BOOK).write_text(self._state.spent)
        kind = self.findings.protection.kind
        wall = kind and Wall((scratch,), (), (), temporary, network="deny", kind=kind)
        outcome = await run_command(
            [sys.executable, "-P", "-m", "amplifier_hooks.insight.backtest.worker"],
            cwd=job.folder,
            timeout=_LONGEST,
            stdin=json.dumps(job.to_dict(scratch)),
            env=dict(os.environ),
            output_limit=_KEPT,
            wall=wall or None,
            contained=True,
            on_output=self._take_output,
        )
        if self._failure:
            raise PolicyError(self._failure)
        if not self._finished:
            last = outcome.stderr.strip().splitlines() or [f"exit code {outcome.returncode}"]
            raise PolicyError(f"The process that runs the hooks has ended: {last[-1]}")

    def _take_output(self, stream: str, text: str) -> None:
        if stream != "stdout":
            return
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            try:
                self._take_message(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                self._failure = _DISTURBED

    def _take_message(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "failed":
            self._failure = message["why"]
        elif kind == "done":
            self._finished = True
        elif kind == "progress":
            self.tell(self._before + message["read"])
            if "tally" in message:
                self.findings.partly = Path(message["trail"]), Tally.from_dict(message["tally"])
        else:
            self._take_trail(Path(message["trail"]), message)

    def _take_trail(self, trail: Path, message: dict[str, Any]) -> None:
        tally = Tally.from_dict(message["tally"])
        self.findings.done[trail] = tally
        self.findings.partly = None
        self._state.keep(trail, tally, message["spent"])
        self._before += measure_trail(trail)
        self.tell(self._before)


def _resolve(folder: str) -> Path:
    return Path(folder).resolve()


def measure_trail(trail: Path) -> int:
    """The bytes of a trail."""
    files = trail.glob("*.jsonl") if trail.is_dir() else [trail]
    return sum(path.stat().st_size for path in files)
