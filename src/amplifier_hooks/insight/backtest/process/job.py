"""A job: which sessions are put before which policy, as one process tells another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from amplifier_hooks.insight.backtest.policy import Policy, PolicyError, PolicySource, load_policy
from amplifier_hooks.insight.backtest.reading import Window


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
