"""Run a command and leave nothing of it behind: as a child, or in a cell of the launcher.

No descendant of a command in a cell outlives the call; behind a wall, sealed places are put back.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import itertools
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from amplifier_core.utils import run_with_timeout
from amplifier_hooks.machine.pipes import LINGER, OnOutput, Pipes
from amplifier_hooks.sandbox import plain_process
from amplifier_hooks.sandbox.client import Cell, CellLost, LauncherUnavailable, Order, get_launcher
from amplifier_hooks.sandbox.landlock import RULESETS, query_abi
from amplifier_hooks.sandbox.plain_process import (
    CommandOutcome,
    PlainRun,
    add_mark,
    create_mark,
    explain_failure,
    make_outcome,
    refuse,
)
from amplifier_hooks.sandbox.seal_copies import Parts, SealError
from amplifier_hooks.sandbox.seal_keeper import SealKeeper, get_keeper
from amplifier_hooks.sandbox.seccomp import build_filter, find_architecture
from amplifier_hooks.sandbox.wall import Wall
from amplifier_hooks.sandbox.wrappers import build_arguments, build_seatbelt_arguments

Grouping = Mapping[Path, frozenset[Parts]]
_Paths = tuple[tuple[Path, ...], tuple[Path, ...]]

# Comparing a table of hundreds of paths takes longer than looking at the places.
_grouped: deque[tuple[tuple[Path, ...], _Paths, Grouping]] = deque(maxlen=8)


class SealedPlaces(Protocol):
    """What lists places that commands must not change."""

    @property
    def sealed(self) -> tuple[Path, ...]:
        """Absolute, real paths, which need not exist."""


@dataclass(slots=True)
class Seals:
    """The seals around one command.

    `left_changed` names places that changed while an earlier command ran whose program was killed;
    they are as they were found, because a person may have changed them since.
    """

    left_changed: tuple[Path, ...] = ()
    _held: list[tuple[SealKeeper, Sequence[Parts]]] = field(default_factory=list)

    @classmethod
    def record(
        cls, places: SealedPlaces, roots: Iterable[Path], grants: Iterable[Path] = ()
    ) -> Seals:
        """Copy what stands at the sealed places below the roots; `grants` may be changed.

        A grant may be among the roots. SealError if a place holds too much to be watched.
        """
        seals = cls()
        granted = tuple(grants)
        try:
            for root, below in _group_once(places.sealed, tuple(roots), granted).items():
                seals._hold(root, below, granted)
        except BaseException:
            seals.restore()
            raise
        return seals

    def restore(self) -> list[Path]:
        """Put back what was changed, added or removed, and name it; a second call does nothing.

        SealError names what could not be put back.
        """
        restored: list[Path] = []
        lost: list[Path] = []
        while self._held:
            keeper, grants = self._held.pop()
            repair = keeper.end(grants)
            restored += [keeper.root.joinpath(*parts) for parts in repair.restored]
            lost += [keeper.root.joinpath(*parts) for parts in repair.lost]
        if lost:
            listed = ", ".join(map(str, lost))
            message = f"The command changed what is sealed and cannot be put back: {listed}"
            raise SealError(errno.EIO, message)
        return restored

    def _hold(self, root: Path, below: frozenset[Parts], granted: Sequence[Path]) -> None:
        if not root.is_dir():
            return  # nothing is there, and no wall lets a command make it
        keeper = get_keeper(root)
        inside = [path.relative_to(root).parts for path in granted if path.is_relative_to(root)]
        grants = [grant for grant in inside if any(_unseals(grant, place) for place in below)]
        changed = keeper.begin(below, grants)
        self._held.append((keeper, grants))
        found = (root.joinpath(*parts) for parts in changed)
        self.left_changed = (*self.left_changed, *found)


def explain_restored(paths: Sequence[Path]) -> str:
    """The line below a command's output that says what became of its changes."""
    listed = ", ".join(f"{str(path)!r}" for path in paths)
    return (
        f"Put back as before the command, because it can make programs run or governs an agent: "
        f"{listed}. If the change is wanted, run the command again with these paths in needs.write."
    )


def _unseals(grant: Parts, place: Parts) -> bool:
    """Whether who grants a path has read that this place is meant: it, in it, or its `.git`.

    A folder further up that was granted for something else unseals nothing.
    """
    return grant[: len(place)] == place or (grant == place[:-1] and grant[-1:] == (".git",))


def _group_once(
    places: tuple[Path, ...], roots: tuple[Path, ...], grants: tuple[Path, ...]
) -> Grouping:
    """As `_group_by_root`, without the work for a table that is still the same."""
    for known, known_paths, grouping in _grouped:
        if known is places and known_paths == (roots, grants):
            return grouping
    grouping = _group_by_root(places, roots, grants)
    _grouped.appendleft((places, (roots, grants), grouping))
    return grouping


def _group_by_root(
    places: tuple[Path, ...], roots: tuple[Path, ...], grants: tuple[Path, ...]
) -> Grouping:
    """Each place below the root whose keeper it has, the same for every command.

    That is the widest root that holds it. Roots that were granted to one command are none that
    others know, so places that only such a root holds belong to the machine's keeper.
    """
    # A root that was also granted is there twice.
    own = sorted((Counter(roots) - Counter(grants)), key=lambda root: len(root.parts))
    found: dict[Path, set[Parts]] = {}
    for place in places:
        root = _find_above(place, own)
        if root is None and _find_above(place, roots) is not None:
            root = Path(place.anchor)
        if root is not None:
            found.setdefault(root, set()).add(place.relative_to(root).parts)
    return {root: frozenset(below) for root, below in found.items()}


def _find_above(place: Path, roots: Iterable[Path]) -> Path | None:
    return next((root for root in roots if place != root and place.is_relative_to(root)), None)


# What root keeps: files of other owners, other users' names, low ports, raw sockets, priorities.
_CAPABILITIES = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 23))
_FILTER_DESCRIPTOR = 10
_PROFILES = itertools.count(1)


@contextlib.contextmanager
def build_order(
    argv: list[str], env: Mapping[str, str], cwd: str, wall: Wall | None
) -> Iterator[tuple[Order, list[int]]]:
    """The order, and descriptors that go with it until the command has them."""
    plain = Order(argv, dict(env), cwd)
    if wall is None:
        yield plain, []
        return
    order = replace(plain, env={**env, "TMPDIR": str(wall.temporary)})
    if wall.kind == "landlock":
        code = _build_filter(wall, query_abi())
        profile = _number_profile(_CAPABILITIES, code)
        limits = replace(order, profile=profile, capabilities=_CAPABILITIES, filter=code)
        with RULESETS.lend(wall) as (ruleset, number):
            yield replace(limits, landlock=number), [ruleset]
    elif wall.kind == "bubblewrap":
        with _write_filter(wall) as descriptor:
            wrapped = [*build_arguments(wall, cwd, descriptor and _FILTER_DESCRIPTOR), *argv]
            inherited = _FILTER_DESCRIPTOR if descriptor else None
            more = [descriptor] if descriptor else []
            # It makes namespaces of its own, with powers that only it has in them.
            profile = _number_profile(order.capabilities, b"")
            yield replace(order, argv=wrapped, profile=profile, inherited=inherited), more
    else:
        raise ValueError(f"a wall of kind {wall.kind!r} is not put up by the launcher")


@functools.cache
def _number_profile(capabilities: int, code: bytes) -> int:
    return next(_PROFILES)


def _build_filter(wall: Wall, abi: int) -> bytes:
    architecture = find_architecture()
    if architecture is None:
        return b""
    return build_filter(
        architecture,
        network=wall.network == "allow",
        unix_sockets=wall.unix_sockets,
        truncation=abi < 3,
    )


@contextlib.contextmanager
def _write_filter(wall: Wall) -> Iterator[int | None]:
    code = _build_filter(wall, abi=3)
    if not code:
        yield None
        return
    descriptor = os.memfd_create("filter", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, code)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def keep_sealed(wall: Wall) -> Iterator[list[str]]:
    """Put back what changes at sealed places; the list then holds sentences about it."""
    seals = Seals.record(wall, wall.writable, wall.granted)
    notes: list[str] = []
    if seals.left_changed:
        listed = ", ".join(map(str, seals.left_changed))
        notes.append(f"Changed while an earlier command ran that was not seen to its end: {listed}")
    try:
        yield notes
    finally:
        restored = seals.restore()
        if restored:
            notes.append(explain_restored(restored))


_REAPING = 5.0  # seconds that a killed process may take to be gone


class CellRun:
    """One running command."""

    def __init__(
        self,
        argv: list[str],
        cwd: str | Path | None,
        env: Mapping[str, str] | None,
        limit: int,
        wall: Wall | None,
        on_output: OnOutput | None = None,
    ) -> None:
        self._argv = argv
        self._cwd = cwd
        self._env = add_mark(env, create_mark())
        self._wall = wall
        self._launcher = get_launcher(walled=wall is not None)
        self._started = time.monotonic()
        self._pipes = Pipes(limit, on_output)

    async def run(self, stdin: str | bytes | None, timeout: float) -> CommandOutcome:
        """Start it, wait for it, end everything that it left behind, put back what is sealed."""
        if self._wall is None:
            return await self._run(stdin, timeout)
        try:
            with keep_sealed(self._wall) as notes:
                outcome = await self._run(stdin, timeout)
        except SealError as failure:
            return refuse(str(failure.strerror), self._started)
        return replace(outcome, notes=tuple(notes)) if notes else outcome

    async def _run(self, stdin: str | bytes | None, timeout: float) -> CommandOutcome:
        try:
            cell = await self._start(stdin)
            try:
                return await self._finish(cell, timeout)
            finally:
                self._launcher.release(cell)
        except (OSError, ValueError) as failure:
            return explain_failure(self._argv, self._cwd, failure, self._started)
        except CellLost:
            sentence = "The process that supervised the command was ended, and the command with it"
            return refuse(sentence, self._started)
        finally:
            self._pipes.close()

    async def _start(self, stdin: str | bytes | None) -> Cell:
        with contextlib.ExitStack() as theirs:
            stdout = await self._pipes.open_output(self._pipes.stdout, theirs)
            stderr = await self._pipes.open_output(self._pipes.stderr, theirs)
            read = await self._pipes.open_input(stdin, theirs)
            if read == asyncio.subprocess.DEVNULL:
                read = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
                theirs.callback(os.close, read)
            order_context = build_order(self._argv, self._env, self._get_folder(), self._wall)
            order, more = theirs.enter_context(order_context)
            return self._launcher.run(order, [read, stdout, stderr, *more])

    def _get_folder(self) -> str:
        return str(Path.cwd() if self._cwd is None else Path(self._cwd).absolute())

    async def _finish(self, cell: Cell, timeout: float) -> CommandOutcome:
        timed_out = False
        try:
            await run_with_timeout(cell.wait(), timeout)
            # A pipeline's last process may write after the shell has gone.
            await self._pipes.drain(LINGER)
        except TimeoutError:
            timed_out = True
        finally:
            await self._end(cell)
        return make_outcome(
            self._pipes, cell.returncode, timed_out=timed_out, started=self._started
        )

    async def _end(self, cell: Cell) -> None:
        """TERM, a moment of grace, KILL; a second cancellation skips the grace, not the KILL."""
        if cell.is_empty:
            return
        try:
            await cell.end(plain_process.GRACE)
        finally:
            await cell.kill(_REAPING)
        await self._pipes.drain(LINGER)


__all__ = ["CommandOutcome", "run_command"]


async def run_command(
    command: str | Sequence[str],
    *,
    cwd: str | Path | None = None,
    timeout: float = 60,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    output_limit: int = 100_000,
    wall: Wall | None = None,
    contained: bool = False,
    on_output: OnOutput | None = None,
) -> CommandOutcome:
    """Run a command: a string in bash, a sequence directly.

    `env` replaces the whole environment, as in `subprocess`. Without `stdin` the command reads an
    empty one. Of each stream at most `output_limit` bytes are kept, its beginning and its end.
    A command that cannot start is an outcome with code 127 (not found) or 126 and the reason in
    `stderr`. When the command ends, the rest of its process group ends with it; behind a wall, or
    `contained` on Linux, so does every descendant, whatever group or session it is in. `on_output`
    is told of the output as it comes, all of it.
    """
    if not timeout > 0:  # also refuses NaN, which `timeout <= 0` would not
        raise ValueError(f"timeout must be positive, not {timeout!r}")
    if not command and not isinstance(command, str):
        raise ValueError("command is an empty sequence; its first item names the program")
    argv = ["bash", "-c", command] if isinstance(command, str) else list(command)
    started = time.monotonic()
    if wall is not None and wall.kind == "seatbelt":
        return await _run_in_seatbelt(argv, cwd, env, output_limit, wall, stdin, timeout, on_output)
    if wall is not None or (contained and sys.platform == "linux"):
        try:
            return await CellRun(argv, cwd, env, output_limit, wall, on_output).run(stdin, timeout)
        except LauncherUnavailable as failure:
            if wall is not None:
                return refuse(f"The command was not run: {failure}", started)
    return await PlainRun(argv, cwd, env, output_limit, on_output).run(stdin, timeout)


async def _run_in_seatbelt(
    argv: list[str],
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    limit: int,
    wall: Wall,
    stdin: str | bytes | None,
    timeout: float,
    on_output: OnOutput | None,
) -> CommandOutcome:
    """Untested, as `seatbelt` says."""
    walled = [*build_seatbelt_arguments(wall), *argv]
    own = {**(os.environ if env is None else env), "TMPDIR": str(wall.temporary)}
    with keep_sealed(wall) as notes:
        outcome = await PlainRun(walled, cwd, own, limit, on_output).run(stdin, timeout)
    return replace(outcome, notes=tuple(notes))
