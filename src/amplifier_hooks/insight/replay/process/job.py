"""A job: which trail is replayed with which bundle, as one process tells another."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from amplifier_core.errors import AmplifierError
from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material


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
