"""Seatbelt, the sandbox of macOS. UNTESTED: this was written without a Mac to try it on."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from amplifier_hooks.sandbox.wall import Wall

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
