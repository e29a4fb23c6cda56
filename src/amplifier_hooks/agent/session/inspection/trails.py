"""The trails of this person: where they lie, and which sessions they are of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from amplifier_core.errors import AmplifierError, SessionStateError
from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle
from amplifier_hooks.agent.session.origin import Origin, read_origin
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore, is_trusted_by_name
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.text.short_ids import shorten_ids


@dataclass(frozen=True, slots=True)
class Trail:
    """The folder of one session's trail, and when it was last written to."""

    path: Path
    updated: float


def find_home() -> Path:
    """Where trails lie unless a bundle says otherwise."""
    return find_data_home() / "amplifier" / "audit"


@dataclass(frozen=True, slots=True)
class Root:
    """Where the trails of a bundle's sessions lie, as far as the person trusts the bundle."""

    path: Path
    named: Path
    """What the bundle says, trusted or not."""

    @property
    def note(self) -> str:
        """That the bundle is not trusted and was not heeded; empty if there is nothing to say."""
        if self.path == self.named:
            return ""
        return (
            "The bundle here is not trusted as it is now, so its audit.path was not used; "
            "amplifier trust allows it, or name the directory of a trail"
        )


def find_root(
    file: Path | None = None, folder: Path | None = None, bundle: Bundle | None = None
) -> Root:
    """Where the trails of a folder's bundle lie, or of the one in a file; BundleError if it cannot
    be read. A bundle that is not trusted decides nothing, so without it."""
    folder = (folder or Path.cwd()).absolute()
    bundle = bundle or load_bundle(file, project_dir=folder)
    named = _read_path(bundle)
    if named is None:
        return Root(find_home(), find_home())
    if _is_trusted(bundle, folder, file):
        return Root(named, named)
    without = load_bundle(project_dir=folder, project=False)
    return Root(_read_path(without) or find_home(), named)


def _read_path(bundle: Bundle) -> Path | None:
    path = bundle.mount_plan["audit"].get("path")
    return Path(path) if path else None


def _is_trusted(bundle: Bundle, folder: Path, file: Path | None) -> bool:
    try:
        material = collect_material(bundle, folder)
        named = None if file is None else folder / file
        return is_trusted_by_name(material, named, TrustStore())
    except (AmplifierError, BundleError, OSError):
        return False


def list_roots(
    file: Path | None = None, folder: Path | None = None, *, untrusted: bool = False
) -> list[Path]:
    """Where trails may lie, as seen from a folder: the usual place, and that of its bundle.

    With `untrusted`, also the place that a bundle names that is not trusted: for checks that this
    can only make stricter.
    """
    try:
        root = find_root(file, folder)
    except (BundleError, OSError):
        return [find_home()]
    own = [root.path, root.named] if untrusted else [root.path]
    return list(dict.fromkeys([*own, find_home()]))


def list_trails(root: Path) -> list[Trail]:
    """The trails in a folder, the newest first."""
    try:
        found = [Trail(path, _read_modified(path)) for path in root.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda trail: trail.updated, reverse=True)


def shorten_trails(trails: Iterable[Path]) -> dict[Path, str]:
    """The name of each trail, as short as it can be typed where a command takes a trail."""
    found = list(trails)
    names = shorten_ids((path.name for path in found), list_names_beside(found))
    return {path: names[path.name] for path in found}


def list_names_beside(trails: Iterable[Path]) -> set[str]:
    """The names of all trails in the folders of these, and in those where commands look."""
    folders = {*(path.parent for path in trails), *list_roots()}
    return {one.path.name for folder in folders for one in list_trails(folder)}


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
