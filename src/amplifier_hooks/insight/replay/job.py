"""Has a replay done by a process of its own, which can write and send nothing."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from amplifier_core.errors import AmplifierError
from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.insight.replay.recording import CannotReplay
from amplifier_hooks.insight.replay.replay import Replay
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.protection import examine_machine
from amplifier_hooks.sandbox.wall import Wall


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


_LONGEST = 24 * 3600.0
_MOST = 50_000_000
"""Bytes that a worker may tell."""


async def launch_replay(job: Job) -> Replay:
    """Have a worker do a job; CannotReplay or ReplayFailed if it cannot."""
    with tempfile.TemporaryDirectory(prefix="amplifier-replay-") as name:
        scratch, temporary = _make_folders(Path(name))
        return await _run(replace(job, scratch=str(scratch)), temporary)


def _make_folders(parent: Path) -> tuple[Path, Path]:
    """Where hooks of ours may keep files, and where anybody may."""
    scratch, temporary = parent.resolve() / "scratch", parent.resolve() / "tmp"
    scratch.mkdir()
    temporary.mkdir()
    return scratch, temporary


async def _run(job: Job, temporary: Path) -> Replay:
    found = examine_machine()
    wall = found.kind and Wall(
        (Path(job.scratch),), (), (), temporary, network="deny", kind=found.kind
    )
    outcome = await run_command(
        [sys.executable, "-P", "-m", "amplifier_hooks.insight.replay.worker"],
        cwd=Path(job.folder),
        timeout=_LONGEST,
        stdin=json.dumps(job.to_dict()),
        env=dict(os.environ),
        output_limit=_MOST,
        wall=wall or None,
        contained=True,
    )
    told = _read_told(outcome.stdout)
    if "cannot" in told:
        raise CannotReplay(told["cannot"])
    if "found" in told:
        return replace(Replay.from_dict(told["found"]), walled=bool(found.kind))
    last = outcome.stderr.strip().splitlines() or [f"exit code {outcome.returncode}"]
    raise ReplayFailed(f"The session cannot be replayed: {told.get('failed') or last[-1]}")


def _read_told(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {}
    return told if isinstance(told, dict) else {}
