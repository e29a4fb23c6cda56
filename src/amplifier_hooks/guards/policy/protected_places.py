"""The places out of the agent's reach, as one table for file tools, commands and guards.

Hidden places are neither read nor written by tools: our data, with the trail, its keys, saved
sessions and what was trusted. Sealed ones may be read: what runs programs for the person.
Names are compared as every file system might read them, files by what they are, links and mounts
are followed.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path, PurePath
from typing import Literal

from amplifier_core.interfaces import Host
from amplifier_hooks.guards.policy import protected_place_table as table
from amplifier_hooks.guards.policy.git_places import follow_settings, list_git_places
from amplifier_hooks.machine.locations import find_config_home, find_data_home

# Windows has a second, short name for each; git guards against this one too.
_SHORT_GIT = re.compile(r"\.?git~\d+")


def fold_path(path: Path) -> tuple[str, ...]:
    """The components of an absolute path, folded."""
    return tuple(map(fold_name, path.parts[1:] if path.anchor else path.parts))


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """One spelling for letter case, composed letters, unseen letters, trailing dots, streams.

    Two different names may fold to one: a guard then refuses too much, never too little.
    """
    if name.isascii():
        plain = name.lower()
    else:
        seen = "".join(one for one in name if unicodedata.category(one) != "Cf")
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    plain = plain.partition(":")[0].rstrip(" .") or unicodedata.normalize("NFC", name)
    return ".git" if _SHORT_GIT.fullmatch(plain) else plain


_MOUNTS = Path("/proc/self/mountinfo")
_DEPTH = 2
"""Folders below a hidden place that are searched: its own, and those of single logs or sessions."""
_ESCAPED = re.compile(r"\\([0-7]{3})")


def list_aliases(places: Iterable[Path], roots: Iterable[Path] = ()) -> list[Path]:
    """Real paths that are as good as a hidden one; none that a root lies in, which must stay open.

    Links are followed as often as one leads to a folder with further links.
    """
    kept = tuple(roots)
    found: dict[Path, None] = {}
    todo = [Path(os.path.realpath(place)) for place in places]
    known = set(todo)
    while todo:
        place = todo.pop()
        for path in (*_find_targets(place, _DEPTH), *find_mounted(place, _read_mounts())):
            if path in known or any(root.is_relative_to(path) for root in kept):
                continue
            known.add(path)
            found[path] = None
            todo.append(path)
    return list(found)


def _find_targets(folder: Path, depth: int) -> Iterator[Path]:
    """What the links in a folder, and in folders below it, lead to."""
    try:
        with os.scandir(folder) as entries:
            listed = [
                (Path(entry.path), entry.is_symlink(), entry.is_dir(follow_symlinks=False))
                for entry in entries
            ]
    except OSError:  # not there, a file, or closed to us and so to our commands
        return
    for path, is_link, is_folder in listed:
        if is_link:
            yield Path(os.path.realpath(path))
        elif is_folder and depth > 1:
            yield from _find_targets(path, depth - 1)


def _read_mounts() -> str:
    try:
        return _MOUNTS.read_text(errors="surrogateescape")
    except OSError:
        return ""


def find_mounted(place: Path, mounts: str) -> Iterator[Path]:
    """Where else the mounts at or below a place can be reached, as /proc/self/mountinfo has it."""
    rows = [_read_mount(line) for line in mounts.splitlines() if line.count(" ") > 4]
    for device, root, point in rows:
        if not point.is_relative_to(place):
            continue
        for other_device, other_root, other_point in rows:
            if other_device == device and other_point != point and root.is_relative_to(other_root):
                yield other_point / root.relative_to(other_root)


def _read_mount(line: str) -> tuple[str, Path, Path]:
    _, _, device, root, point, *_ = line.split(" ")
    return device, _read_path(root), _read_path(point)


def _read_path(text: str) -> Path:
    """A path of mountinfo, which writes blanks and backslashes as octal numbers."""
    return Path(_ESCAPED.sub(lambda found: chr(int(found.group(1), 8)), text))


FileId = tuple[int, int]

_MOST_ENTRIES = 100_000


def get_identity(info: os.stat_result) -> FileId:
    """What no other file on the machine has while this one exists."""
    return info.st_dev, info.st_ino


class FileIdentities:
    """Guarded places as they are on disk now. Files below them are looked at only when needed.

    A file has a second name only if its count of links says so; only then are the guarded
    folders searched for it. If those that `must_know` names are too large for that, it counts as
    found: better refused than let through unseen.
    """

    def __init__(self, places: Iterable[Path], *, must_know: Iterable[Path] = ()) -> None:
        self._places = tuple(places)
        self._must_know = frozenset(must_know)
        self._tops: dict[FileId, Path] | None = None
        self._files: dict[FileId, Path] | None = None
        self._unsure: Path | None = None

    def find(self, info: os.stat_result) -> Path | None:
        """The place that this is, or that holds another name of this file."""
        top = self._get_tops().get(get_identity(info))
        if top is not None or not stat.S_ISREG(info.st_mode) or info.st_nlink < 2:
            return top
        return self._get_files().get(get_identity(info), self._unsure)

    def _get_tops(self) -> dict[FileId, Path]:
        if self._tops is None:
            self._tops = dict(_identify_all(self._places))
        return self._tops

    def _get_files(self) -> dict[FileId, Path]:
        if self._files is None:
            self._files = {}
            for place in self._places:
                self._index(place, self._files)
        return self._files

    def _index(self, place: Path, files: dict[FileId, Path]) -> None:
        for count, identity in enumerate(_walk(place)):
            if count >= _MOST_ENTRIES:
                self._unsure = place if place in self._must_know else self._unsure
                return
            files[identity] = place


def _identify_all(places: Iterable[Path]) -> Iterator[tuple[FileId, Path]]:
    for place in places:
        try:
            yield get_identity(os.stat(place)), place  # noqa: PTH116
        except (OSError, ValueError):
            continue


def _walk(place: Path) -> Iterator[FileId]:
    """Every regular file below a place that has several names."""
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                info = os.lstat(f"{folder}/{name}")
            except OSError:
                continue
            if info.st_nlink > 1:
                yield get_identity(info)


Kind = Literal["hidden", "sealed", "code"]
_PACKAGES = ("amplifier_core", "amplifier_audit", "amplifier_hooks")
_NAMED = tuple(
    tuple(fold_name(part) for part in name.split("/"))
    for name in (*table.NAMED_ONLY, *table.PROJECT)
)
_FIRST_NAMES = frozenset(names[0] for names in _NAMED)
_PROJECT = tuple(tuple(fold_name(part) for part in name.split("/")) for name in table.PROJECT)
_FIRST_OF_PROJECT = frozenset(names[0] for names in _PROJECT)
_WORDS: Mapping[Kind, str] = {
    "hidden": "lies in {place}, which holds records and keys of this program; "
    "tools neither read nor write there",
    "sealed": "lies in {place}, which can make programs run or governs an agent; "
    "tools do not write there",
    "code": "lies in {place}, the code that runs this agent; tools do not write there",
}


@dataclass(frozen=True, slots=True)
class ProtectedPlaces:
    """Absolute, real paths; they need not exist. A link inside a root is listed as itself too.

    `code` is where this program runs from, if that lies inside a root: file tools refuse it, but
    it is too large to be sealed around every command.
    """

    hidden: tuple[Path, ...]
    sealed: tuple[Path, ...]
    roots: tuple[Path, ...] = ()
    code: tuple[Path, ...] = ()
    _kinds: dict[tuple[str, ...], tuple[Kind, Path]] = field(init=False, repr=False, compare=False)
    _above: frozenset[tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kinds: dict[tuple[str, ...], tuple[Kind, Path]] = {}
        listed: list[tuple[Kind, tuple[Path, ...]]] = [
            ("code", self.code),
            ("sealed", self.sealed),
            ("hidden", self.hidden),
        ]
        for kind, paths in listed:  # the strictest last, so that it stays
            kinds.update({fold_path(path): (kind, path) for path in paths})
        above = frozenset(parts[:n] for parts in kinds for n in range(1, len(parts)))
        object.__setattr__(self, "_kinds", kinds)
        object.__setattr__(self, "_above", above)

    def find_refusal(
        self, path: Path, *, writing: bool, known: FileIdentities | None = None
    ) -> str | None:
        """Why a path may not be used, as the rest of a sentence that begins with it; else None.

        `known` is what `identify` found, for those who need it again.
        """
        real = Path(os.path.realpath(path))
        for one in dict.fromkeys((Path(os.path.normpath(path.absolute())), real)):
            reason = self._judge_name(one, writing=writing)
            if reason is not None:
                return reason
        return self._judge_file(real, known or self.identify(writing=writing))

    def identify(self, *, writing: bool) -> FileIdentities:
        """What the places are on disk at this moment, for looks at descriptors."""
        guarded = (*self.hidden, *self.sealed, *self.code) if writing else self.hidden
        return FileIdentities(guarded, must_know=self.hidden)

    def explain(self, place: Path) -> str:
        """The rest of a sentence about something that turned out to be a place of the table."""
        kind, listed = self._kinds.get(fold_path(place), ("sealed", place))
        return _WORDS[kind].format(place=str(listed))

    def is_hidden(self, path: Path) -> bool:
        """Whether a real path is hidden, by its name."""
        found = self._find_listed(fold_path(path))
        return found is not None and found[0] == "hidden"

    def _judge_name(self, path: Path, *, writing: bool) -> str | None:
        parts = fold_path(path)
        found = self._find_listed(parts)
        if found is not None and (writing or found[0] == "hidden"):
            return _WORDS[found[0]].format(place=str(found[1]))
        if not writing:
            return None
        named = self._find_named(path)
        if named is not None:
            return _WORDS["sealed"].format(place=str(named))
        if parts in self._above and not path.is_dir():
            return "would take the place of a folder that can make programs run; tools do not"
        return None

    def _find_listed(self, parts: tuple[str, ...]) -> tuple[Kind, Path] | None:
        found = None
        for n in range(1, len(parts) + 1):
            listed = self._kinds.get(parts[:n])
            if listed is not None and (found is None or listed[0] == "hidden"):
                found = listed
        return found

    def _find_named(self, path: Path) -> Path | None:
        """The part of a path that has one of the names; names count from the nearest root."""
        inside = [root for root in self.roots if path.is_relative_to(root)]
        root = max(inside, key=lambda one: len(one.parts), default=Path(path.anchor))
        parts = path.relative_to(root).parts
        folded = [fold_name(part) for part in parts]
        if folded and folded[-1].endswith(table.WORKSPACES):
            return path
        for at in (n for n, name in enumerate(folded) if name in _FIRST_NAMES):
            for names in _NAMED:
                here = tuple(folded[at : at + len(names)])
                # `.github` as a file would take the place of `.github/hooks`.
                if here == names[: len(here)] and (here == names or not path.is_dir()):
                    return root.joinpath(*parts[: at + len(here)])
        return None

    def _judge_file(self, real: Path, known: FileIdentities) -> str | None:
        try:
            info = real.lstat()
        except (OSError, ValueError):
            return None
        place = known.find(info)
        return None if place is None else self.explain(place)


def is_project_place(path: PurePath) -> bool:
    """Whether a path, at any depth, is one of the table's places of a project, or lies in one."""
    folded = [fold_name(part) for part in path.parts]
    if folded and folded[-1].endswith(table.WORKSPACES):
        return True
    found = (n for n, name in enumerate(folded) if name in _FIRST_OF_PROJECT)
    return any(tuple(folded[n : n + len(one)]) == one for n in found for one in _PROJECT)


def lies_at_project_place(path: PurePath) -> bool:
    """Whether a relative path is one of these places of the project that it begins in."""
    folded = tuple(fold_name(part) for part in path.parts)
    if folded and folded[-1].endswith(table.WORKSPACES):
        return len(folded) == 1
    return any(folded[: len(one)] == one for one in _PROJECT)


def is_above_project_place(path: PurePath) -> bool:
    """Whether such a place would lie below a relative path, if that were a folder."""
    folded = tuple(fold_name(part) for part in path.parts)
    return any(one[: len(folded)] == folded and one != folded for one in _PROJECT)


class DeferredPlaces:
    """A table that is listed when it is first asked for: that walks folders.

    The capability `session.places`. A tool asks before it does anything, so what was there before
    any of ours ran is in the table; many sessions never use a tool of ours.
    """

    def __init__(self, make: Callable[[], ProtectedPlaces]) -> None:
        self._make = make

    @cached_property
    def listed(self) -> ProtectedPlaces:
        """The table."""
        return self._make()


def get_places(host: Host) -> ProtectedPlaces | None:
    """The table of a session; None for a host that has none."""
    known = host.get_capability("session.places")
    if isinstance(known, DeferredPlaces):
        return known.listed
    return known if isinstance(known, ProtectedPlaces) else None


def list_places(
    roots: Iterable[Path],
    env: Mapping[str, str] | None = None,
    *,
    hidden: Iterable[Path] = (),
    sealed: Iterable[Path] = (),
) -> ProtectedPlaces:
    """The table for the roots of a session.

    `hidden` adds a trail or a key kept elsewhere, `sealed` files that govern this very session.
    """
    env = os.environ if env is None else env
    real = tuple(dict.fromkeys(Path(os.path.realpath(root)) for root in roots))
    hide = [find_data_home(env) / table.OWN_FOLDER, *hidden]
    hide += list_aliases(hide, real)
    seal = [*_list_sealed_at_home(env), *_list_sealed_below(real, env), *table.SYSTEM, *sealed]
    return ProtectedPlaces(
        hidden=_spell_out(hide, real),
        sealed=_spell_out(seal, real),
        roots=real,
        code=tuple(one for one in _list_code() if any(one.is_relative_to(root) for root in real)),
    )


def _list_sealed_at_home(env: Mapping[str, str]) -> list[str | Path]:
    home = _find_home(env)
    config = find_config_home(env)
    found: list[str | Path] = [config / table.OWN_FOLDER]
    found += [f"{home}/{name}" for name in table.HOME]
    found += [f"{config}/{name}" for name in table.CONFIG]
    # A home may be a project, whose `bin` is its own business unless shells look there.
    if f"{home}/bin" in env.get("PATH", "").split(":"):
        found.append(f"{home}/bin")
    if env.get("ZDOTDIR"):
        found += [f"{env['ZDOTDIR']}/{name}" for name in table.ZSH]
    return [*found, *follow_settings([home / ".gitconfig", config / "git/config"], home, home)]


def _list_sealed_below(roots: Iterable[Path], env: Mapping[str, str]) -> Iterator[str | Path]:
    home = _find_home(env)
    for root in roots:
        yield from (f"{root}/{name}" for name in table.PROJECT)
        yield from _list_workspaces(root)
        yield from list_git_places(root, home)


def _list_workspaces(root: Path) -> list[Path]:
    try:
        with os.scandir(root) as entries:
            return [root / one.name for one in entries if one.name.endswith(table.WORKSPACES)]
    except OSError:
        return []


def _list_code() -> list[Path]:
    """The environment that this interpreter runs in, and our packages."""
    beside = Path(__file__).parents[3]
    folders = [Path(sys.prefix), *(beside / name for name in _PACKAGES)]
    return list(dict.fromkeys(Path(os.path.realpath(one)) for one in folders))


def _find_home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path.home())


def _spell_out(paths: Iterable[str | Path], roots: tuple[Path, ...]) -> tuple[Path, ...]:
    """Real paths, and the links inside the roots that lead to them."""
    folders: dict[str, str] = {}
    found: dict[str, None] = {}
    for path in paths:
        folder, _, name = os.fspath(path).rpartition("/")
        # Many places share a folder, whose links need to be followed only once.
        if folder not in folders:
            folders[folder] = os.path.realpath(folder or "/").removesuffix("/")
            found.update(dict.fromkeys(_trace_links(folder, roots)))
        place = f"{folders[folder]}/{name}"
        if name in ("", ".", "..") or _is_link(place):
            found.update(dict.fromkeys(_trace_links(place, roots)))
            place = os.path.realpath(place)
        found[place] = None
    return tuple(map(Path, found))


def _trace_links(path: str, roots: tuple[Path, ...]) -> Iterator[str]:
    if os.path.realpath(path) == path:
        return
    for one in (Path(path), *Path(path).parents):
        if one.is_symlink():
            link = Path(os.path.realpath(one.parent), one.name)
            if any(link.is_relative_to(root) for root in roots):
                yield str(link)


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
