"""The places out of the agent's reach, as one table for file tools, commands and guards.

Hidden places are neither read nor written by tools: our data, with the trail, its keys, saved
sessions and what was trusted. Sealed ones may be read: what runs programs for the person.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Literal

from amplifier_core.interfaces import Host
from amplifier_hooks.guards.policy import place_table as table
from amplifier_hooks.guards.policy.aliases import list_aliases
from amplifier_hooks.guards.policy.file_identity import Identities
from amplifier_hooks.guards.policy.git_places import follow_settings, list_git_places
from amplifier_hooks.guards.policy.place_names import fold_name, fold_path
from amplifier_hooks.machine.user import find_config_home, find_data_home

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
class Places:
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
        self, path: Path, *, writing: bool, known: Identities | None = None
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

    def identify(self, *, writing: bool) -> Identities:
        """What the places are on disk at this moment, for looks at descriptors."""
        guarded = (*self.hidden, *self.sealed, *self.code) if writing else self.hidden
        return Identities(guarded, must_know=self.hidden)

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

    def _judge_file(self, real: Path, known: Identities) -> str | None:
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

    The capability `session.places` of a session without tools, which most of them never ask for.
    """

    def __init__(self, make: Callable[[], Places]) -> None:
        self._make = make

    @cached_property
    def listed(self) -> Places:
        """The table."""
        return self._make()


def get_places(host: Host) -> Places | None:
    """The table of a session; None for a host that has none."""
    known = host.get_capability("session.places")
    if isinstance(known, DeferredPlaces):
        return known.listed
    return known if isinstance(known, Places) else None


def list_places(
    roots: Iterable[Path],
    env: Mapping[str, str] | None = None,
    *,
    hidden: Iterable[Path] = (),
    sealed: Iterable[Path] = (),
) -> Places:
    """The table for the roots of a session.

    `hidden` adds a trail or a key kept elsewhere, `sealed` files that govern this very session.
    """
    env = os.environ if env is None else env
    real = tuple(dict.fromkeys(Path(os.path.realpath(root)) for root in roots))
    hide = [find_data_home(env) / table.OWN_FOLDER, *hidden]
    hide += list_aliases(hide, real)
    seal = [*_list_sealed_at_home(env), *_list_sealed_below(real, env), *table.SYSTEM, *sealed]
    return Places(
        hidden=_spell_out(hide, real),
        sealed=_spell_out(seal, real),
        roots=real,
        code=tuple(one for one in _list_code() if any(one.is_relative_to(root) for root in real)),
    )


def _list_sealed_at_home(env: Mapping[str, str]) -> list[str | Path]:
    home, config = _find_home(env), find_config_home(env)
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
