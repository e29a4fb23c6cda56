"""Programs that put up a wall around a command: bubblewrap on Linux, Seatbelt on macOS.

bubblewrap makes it of mounts and namespaces. Seatbelt is UNTESTED: its profile was written without
a Mac to try it on.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from amplifier_hooks.sandbox.wall import Wall

# Root's powers over files; without them it could not even read its own project.
_ROOT_KEEPS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID")


def find_bubblewrap() -> str | None:
    """Where the program is."""
    return shutil.which("bwrap")


def build_arguments(wall: Wall, cwd: str, filter_descriptor: int | None) -> list[str]:
    """The beginning of a command line that puts up the wall; the command comes after it."""
    program = find_bubblewrap()
    if program is None:
        raise FileNotFoundError(2, "bubblewrap is not installed", "bwrap")
    return [
        program,
        # Not --die-with-parent: the parent is a thread that ends. The supervisor sees to the rest.
        *("--unshare-all", "--new-session"),
        *(("--share-net",) if wall.network == "allow" else ()),
        *_choose_capabilities(),
        *_list_mounts(wall),
        *(() if filter_descriptor is None else ("--seccomp", str(filter_descriptor))),
        *("--chdir", cwd, "--"),
    ]


def _choose_capabilities() -> Iterator[str]:
    yield from ("--cap-drop", "ALL")
    if os.geteuid() == 0:
        for name in _ROOT_KEEPS:
            yield from ("--cap-add", f"CAP_{name}")


def _list_mounts(wall: Wall) -> Iterator[str]:
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    if not wall.unix_sockets:
        yield from ("--tmpfs", "/run")
        yield from _keep_resolver()
    temporary = str(wall.temporary)
    for shared in ("/tmp", "/var/tmp"):
        yield from ("--bind", temporary, shared)
    yield from ("--bind", temporary, temporary)
    for root in wall.writable:
        yield from ("--bind-try", str(root), str(root))
    yield from _seal(wall)
    for place in wall.hidden:
        yield from _hide(place)


def _keep_resolver() -> Iterator[str]:
    """Names of hosts are often looked up by way of a file in /run."""
    resolver = os.path.realpath("/etc/resolv.conf")
    if resolver.startswith("/run/"):
        yield from ("--ro-bind-try", resolver, resolver)


def _seal(wall: Wall) -> Iterator[str]:
    """Each sealed place read-only, its parents bound in place: a mount cannot be renamed away."""
    bound: set[Path] = set()
    for place in sorted(wall.sealed):
        root = next((one for one in wall.writable if place.is_relative_to(one)), None)
        if root is None or not place.exists():
            continue
        between = [one for one in reversed(place.parents) if one != root and root in one.parents]
        for parent in between:
            if parent not in bound:
                bound.add(parent)
                yield from ("--bind", str(parent), str(parent))
        yield from ("--ro-bind", str(place), str(place))


def _hide(place: Path) -> Iterator[str]:
    if place.is_dir():
        yield from ("--tmpfs", str(place), "--remount-ro", str(place))
    elif place.exists():
        yield from ("--ro-bind", os.devnull, str(place))


_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "random", "urandom"))


def find_seatbelt() -> str | None:
    """Where the program is that puts it up."""
    return shutil.which("sandbox-exec")


def build_seatbelt_arguments(wall: Wall) -> list[str]:
    """The beginning of a command line that puts up the wall; the command comes after it."""
    return [find_seatbelt() or "sandbox-exec", "-p", build_profile(wall)]


def build_profile(wall: Wall) -> str:
    """The rules; of those that match, the last one counts."""
    return "\n".join(_list_rules(wall)) + "\n"


def _list_rules(wall: Wall) -> Iterator[str]:
    yield "(version 1)"
    yield "(allow default)"
    yield "(deny signal (target others))"
    yield "(deny file-write*)"
    yield f"(allow file-write* {_name_trees((*wall.writable, wall.temporary))})"
    yield f"(allow file-write* {' '.join(f'(literal {_quote(path)})' for path in _DEVICES)})"
    sealed = [place for place in wall.sealed if place not in wall.granted]
    if sealed:
        yield f"(deny file-write* {_name_trees(sealed)})"
    if wall.hidden:
        yield f"(deny file-read* file-write* {_name_trees(wall.hidden)})"
    if wall.network == "deny":
        yield "(deny network*)"
    if not wall.unix_sockets:
        yield "(deny network-outbound (remote unix-socket))"


def _name_trees(paths: Iterable[Path]) -> str:
    return " ".join(f"(subpath {_quote(path)})" for path in paths)


def _quote(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
