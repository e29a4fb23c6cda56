"""The trails of this person: where they lie, and which sessions they are of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from amplifier_core.errors import SessionStateError
from amplifier_foundation.bundles import Bundle, BundleError, load_bundle
from amplifier_foundation.machine.user import find_data_home
from amplifier_foundation.session.origin import Origin, read_origin
from amplifier_foundation.session.store import SessionStore


@dataclass(frozen=True, slots=True)
class Trail:
    """The folder of one session's trail, and when it was last written to."""

    path: Path
    updated: float

    @property
    def short(self) -> str:
        """As much of its name as people type."""
        return self.path.name[:8]


def find_home() -> Path:
    """Where trails lie unless a bundle says otherwise."""
    return find_data_home() / "amplifier" / "audit"


def find_root(bundle: Bundle) -> Path:
    """Where the trails of a bundle's sessions lie."""
    path = bundle.mount_plan["audit"].get("path")
    return Path(path) if path else find_home()


def list_roots() -> list[Path]:
    """Where trails may lie, as seen from this folder: the usual place, and that of its bundle."""
    try:
        own = [find_root(load_bundle())]
    except (BundleError, OSError):
        own = []
    return list(dict.fromkeys([*own, find_home()]))


def list_trails(root: Path) -> list[Trail]:
    """The trails in a folder, the newest first."""
    try:
        found = [Trail(path, _read_modified(path)) for path in root.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda trail: trail.updated, reverse=True)


def _read_modified(path: Path) -> float:
    state = path / "state"
    return (state if state.exists() else path).stat().st_mtime


def find_trail_origin(trail: Trail) -> Origin | None:
    """Where a trail comes from: as it says itself, or as the saved session does."""
    if origin := read_origin(trail.path):
        return origin
    try:
        saved = SessionStore().get(trail.path.name)
    except SessionStateError:
        return None  # a folder with a name that no session has
    return Origin(saved.working_dir) if saved and saved.working_dir else None
