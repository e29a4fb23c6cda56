"""The trails of this person: where they lie, which are meant, and sessions that only they know."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from amplifier_audit.log_directory import AuditDirectory
from amplifier_core.errors import AmplifierError, SessionStateError
from amplifier_hooks.agent.bundles import Bundle, BundleError, load_bundle
from amplifier_hooks.agent.session.origin import Origin, is_self_test, read_origin
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
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


_DEEPEST = 3
"""Folders below each other in which trails are found: PERSON/audit/TRAIL."""


class TrailNotFound(ValueError):
    """There is no such trail."""


def select_trails(
    names: Sequence[str] = (),
    *,
    folder: Path | None = None,
    everywhere: bool = False,
    self_tests: bool = False,
) -> list[Path]:
    """The trails that are named, or all of the sessions that worked in this folder, oldest first.

    A name is the directory of a log or of several, the start of a session's id, or its name. Trails
    of self-tests are among them if `self_tests`, or if they are named themselves.
    """
    if names:
        return list(dict.fromkeys(path for name in names for path in _find(name, self_tests)))
    found = [
        one
        for root in list_roots()
        for one in list_trails(root)
        if holds_log(one.path) and (self_tests or not is_self_test(one.path))
    ]
    found.sort(key=lambda trail: trail.updated)
    if everywhere:
        return [trail.path for trail in found]
    here = str((folder or Path.cwd()).absolute())
    return [
        one.path for one in found if (origin := find_trail_origin(one)) and origin.folder == here
    ]


def holds_log(path: Path) -> bool:
    """Whether a folder is the directory of a log."""
    directory = AuditDirectory(path)
    return bool(directory.list_segments() or directory.list_traces())


def _find(name: str, self_tests: bool) -> Iterable[Path]:
    path = Path(name)
    if path.is_file() or (path.is_dir() and holds_log(path)):
        return [path]
    if path.is_dir():
        if logs := list_logs_below(path):
            kept = [one.path for one in logs if self_tests or not is_self_test(one.path)]
            if kept:
                return kept
            raise TrailNotFound(f"There is no trail in {path} but those of self-tests")
        raise TrailNotFound(f"There is no trail in {path}")
    return [find_named_trail(name)]


def list_logs_below(folder: Path) -> list[Trail]:
    """The logs in a folder, oldest first, or in the folders below it: one for each person, say."""
    return sorted(_list_logs(folder, _DEEPEST), key=lambda trail: trail.updated)


def _list_logs(folder: Path, depth: int) -> Iterator[Trail]:
    for one in list_trails(folder):
        if holds_log(one.path):
            yield one
        elif depth > 1 and not one.path.is_symlink():
            yield from _list_logs(one.path, depth - 1)


def find_named_trail(name: str) -> Path:
    """The trail of a session, by the start of its id or by its name."""
    found = [one.path for root in list_roots() for one in list_trails(root)]
    exact = [path for path in found if path.name == name]
    begun = exact or [path for path in found if path.name.startswith(name)]
    named = begun or _find_by_session_name(name, found)
    if len(named) > 1:
        names = ", ".join(path.name for path in named[:5])
        raise TrailNotFound(f"Several trails begin with {name!r}: {names}")
    if not named:
        raise TrailNotFound(
            f"No trail {name!r}: name the directory of a log, the start of a session's id, or a "
            "session's name; amplifier audit list shows them"
        )
    return named[0]


def _find_by_session_name(name: str, found: Sequence[Path]) -> list[Path]:
    ids = [one.id for one in SessionStore().list() if one.name and one.name.lower() == name.lower()]
    return [path for path in found if path.name in ids][:1]


GATEWAY = "mcp"
WHAT_CAN_BE_DONE = (
    "amplifier audit show ID and amplifier report ID tell what happened; "
    "to go on with one, use the agent or the program itself"
)


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session of which there is a trail; `kind` says whose it is."""

    id: str
    kind: str
    updated: str
    working_dir: str
    bundle: str
    path: str
    self_test: bool = False


def list_unsaved(saved: Container[str], *, self_tests: bool = False) -> list[Trail]:
    """The trails of sessions that are not saved, the newest first."""
    found = [
        trail
        for root in list_roots()
        for trail in list_trails(root)
        if trail.path.name not in saved and (self_tests or not is_self_test(trail.path))
    ]
    return sorted(found, key=lambda trail: trail.updated, reverse=True)


def describe_recorded(trail: Trail, agents: Mapping[str, str]) -> RecordedSession:
    """What a list shows of such a session; `agents` has the names of agents by their prefixes."""
    origin = find_trail_origin(trail)
    return RecordedSession(
        id=trail.path.name,
        kind=_name_kind(trail.path, agents),
        updated=datetime.fromtimestamp(trail.updated, UTC).isoformat(timespec="seconds"),
        working_dir=origin.folder if origin else "",
        bundle=origin.bundle if origin else "",
        path=str(trail.path),
        self_test=is_self_test(trail.path),
    )


def find_saved(store: SessionStore, wanted: str) -> SessionInfo:
    """The saved session that is meant; the SessionStateError says of one that is recorded only
    what can be done with it."""
    try:
        return store.find(wanted)
    except SessionStateError:
        names = [one.path.name for one in list_unsaved((), self_tests=True)]
        found = [name for name in names if wanted and name.startswith(wanted)]
        if not found:
            raise
        raise SessionStateError(
            f"Session {found[0]!r} is recorded, not saved: {WHAT_CAN_BE_DONE}"
        ) from None


def _name_kind(path: Path, agents: Mapping[str, str]) -> str:
    prefix, dash, _ = path.name.partition("-")
    if dash and prefix == GATEWAY:
        return "MCP gateway"
    return agents.get(prefix, "") if dash else ""
