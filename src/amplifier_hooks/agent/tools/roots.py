"""The directories that tools may touch, and descriptors that cannot be led out of them.

A path is resolved and checked first: it lies inside a root, and the table of places does not keep
it out of reach. It is then opened again, component by component from its root and without
following links, so that a link put in its way after the check stops the call. What was opened is
compared with what the table's places are on disk, so that no second name leads there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from amplifier_core.interfaces import Host
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.guards.policy.paths import match_glob, resolve
from amplifier_hooks.guards.policy.protected_places import (
    FileIdentities,
    ProtectedPlaces,
    get_places,
    list_places,
)

_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK the opening of a pipe would wait for somebody to write to it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOVED = {errno.ELOOP, errno.ENOTDIR}
_ENVIRONMENT = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR")


_NOWHERE = ProtectedPlaces((), ())


def get_working_dir(host: Host, configured: str | None = None) -> Path:
    """The configured directory, else the session's, else the process's."""
    base = Path(host.get_capability("session.working_dir") or Path.cwd()).resolve()
    return base if configured is None else resolve(configured, base)


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside a root. `asked` is how the caller wrote it."""

    asked: str
    root: Path
    parts: tuple[str, ...]
    places: ProtectedPlaces = field(default=_NOWHERE, compare=False, repr=False)
    guarded: FileIdentities | None = field(default=None, compare=False, repr=False)

    @property
    def path(self) -> Path:
        """The real path."""
        return self.root.joinpath(*self.parts)

    def check(self, info: os.stat_result) -> None:
        """Refuse what was opened if it is a guarded place, or a guarded file's other name."""
        found = None if self.guarded is None else self.guarded.find(info)
        if found is not None:
            raise Refused(f"{self.asked!r} {self.places.explain(found)}")


@dataclass(frozen=True, slots=True)
class Roots:
    """Where relative paths start, and the real directories that paths must lie in."""

    base: Path
    directories: tuple[Path, ...]
    places: ProtectedPlaces = field(default=_NOWHERE, compare=False, repr=False)

    @classmethod
    def from_host(
        cls, host: Host, configured: Sequence[str] | None, working_dir: str | None = None
    ) -> Roots:
        """The configured roots, else the working directory."""
        base = get_working_dir(host, working_dir)
        given = ["."] if configured is None else configured
        directories = tuple(resolve(root, base) for root in given)
        return cls(base, directories, find_places(host, directories))

    def locate(self, asked: str, *, writing: bool = False) -> Place:
        """The real place of a path, or a refusal when it lies outside or is out of reach."""
        try:
            real = resolve(asked, self.base)
        except ValueError as wrong:
            raise Refused(str(wrong)) from wrong
        inside = [root for root in self.directories if real.is_relative_to(root)]
        if not inside:
            allowed = [str(root) for root in self.directories]
            raise Refused(f"{asked!r} is outside the allowed directories {allowed}")
        root = max(inside, key=lambda candidate: len(candidate.parts))
        guarded = self.places.identify(writing=writing)
        refusal = self.places.find_refusal(real, writing=writing, known=guarded)
        if refusal is not None:
            raise Refused(f"{asked!r} {refusal}")
        return Place(asked, root, real.relative_to(root).parts, self.places, guarded)


def find_places(host: Host, directories: tuple[Path, ...]) -> ProtectedPlaces:
    """The session's table of places, with these directories among its roots."""
    known = get_places(host) or ProtectedPlaces((), ())
    if known.roots and set(directories) <= set(known.roots):
        return known
    # Where a person's folders are is part of the key: it may change while the process runs.
    env = tuple((name, os.environ.get(name, "")) for name in _ENVIRONMENT)
    return _list_places_once((*known.roots, *directories), env, known.hidden)


@lru_cache(maxsize=32)
def _list_places_once(
    roots: tuple[Path, ...], env: tuple[tuple[str, str], ...], hidden: tuple[Path, ...]
) -> ProtectedPlaces:
    return list_places(roots, dict(env), hidden=hidden)


def format_path(path: Path) -> str:
    """A path as one line of text that can be encoded, whatever bytes its names are made of."""
    text = str(path).encode(errors="surrogateescape").decode(errors="replace")
    return text.replace("\n", "\\n")


def refuse_protected(place: Place, patterns: Sequence[str]) -> None:
    """Patterns count from the root, so that a root may itself lie below a protected name."""
    pattern = match_glob(Path("/").joinpath(*place.parts), patterns)
    if pattern is not None:
        raise Refused(
            f"{place.asked!r} is protected by the pattern {pattern!r}; tools do not write there"
        )


def require_regular(info: os.stat_result, asked: str) -> None:
    """Refuse a directory, and anything that could block or has no end."""
    if stat.S_ISDIR(info.st_mode):
        raise Refused(f"{asked!r} is a directory; list it with Glob")
    if not stat.S_ISREG(info.st_mode):
        raise Refused(f"{asked!r} is not an ordinary file but a device, a pipe, a socket or a link")


@contextlib.contextmanager
def open_parent(place: Place, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """A descriptor of the directory that holds the place, and the place's name in it."""
    if not place.parts:
        raise Refused(f"{place.asked!r} is a directory; name a file in it")
    with _refuse_failures(place), contextlib.ExitStack() as stack:
        yield _descend(place, place.parts[:-1], stack, create=create), place.parts[-1]


@contextlib.contextmanager
def open_directory(place: Place) -> Iterator[int]:
    """A descriptor of the place itself, for walking."""
    with _refuse_failures(place), contextlib.ExitStack() as stack:
        parent = _descend(place, place.parts, stack, create=False)
        # What was opened with O_PATH cannot be listed.
        readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
        stack.callback(os.close, readable)
        yield readable


def open_file(name: str, parent: int, asked: str, place: Place | None = None) -> int:
    """A descriptor of a regular file; anything else is refused, and what `place` refuses."""
    descriptor = os.open(name, _FILE, dir_fd=parent)
    try:
        info = os.fstat(descriptor)
        require_regular(info, asked)
        if place is not None:
            place.check(info)
    except Refused:
        os.close(descriptor)
        raise
    return descriptor


def _descend(
    place: Place, parts: Sequence[str], stack: contextlib.ExitStack, *, create: bool
) -> int:
    descriptor = os.open(place.root, _DIRECTORY)
    stack.callback(os.close, descriptor)
    for part in parts:
        descriptor = _enter(descriptor, part, create=create)
        stack.callback(os.close, descriptor)
        place.check(os.fstat(descriptor))
    return descriptor


def _enter(parent: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)
    return os.open(name, _DIRECTORY, dir_fd=parent)


@contextlib.contextmanager
def _refuse_failures(place: Place) -> Iterator[None]:
    """Errors of the operating system, as the sentence that the agent reads."""
    try:
        yield
    except FileNotFoundError:
        raise  # the caller knows what was looked for
    except OSError as failure:
        if failure.errno in _MOVED:
            raise Refused(
                f"{place.asked!r} cannot be used: part of it is not a directory, or became a link "
                "during the call"
            ) from failure
        raise Refused(f"{place.asked!r} cannot be used: {failure.strerror}") from failure
