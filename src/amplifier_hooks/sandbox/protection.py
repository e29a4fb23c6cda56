"""Protection on this machine: the wall that commands can have, and its gaps."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from amplifier_hooks.sandbox.landlock import query_abi
from amplifier_hooks.sandbox.seccomp import is_available
from amplifier_hooks.sandbox.wall import Kind
from amplifier_hooks.sandbox.wrappers import find_bubblewrap, find_seatbelt

Wanted = Literal["auto", "landlock", "bubblewrap"]
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Protection:
    """A kind of wall, or why there is none; `lacks` is what an old kernel leaves open."""

    kind: Kind | None
    name: str
    reason: str = ""
    lacks: tuple[str, ...] = ()


def examine_machine(wanted: Wanted = "auto") -> Protection:
    """The wall that is wanted; with `auto` the first that there is."""
    if sys.platform == "darwin" and wanted == "auto":
        return _examine_seatbelt()
    if wanted == "bubblewrap":
        return _examine_bubblewrap()
    landlock = _examine_landlock()
    if landlock.kind is not None or wanted == "landlock":
        return landlock
    other = _examine_bubblewrap()
    if other.kind is not None:
        return other
    return Protection(None, "", f"{landlock.reason}; {other.reason}")


def _examine_landlock() -> Protection:
    abi = query_abi()
    if abi < 1:
        reason = "the kernel has no Landlock, or it is switched off (Linux 5.13 and later have it)"
        return Protection(None, "", reason)
    lacks = tuple(_list_lacks(abi, filtered=is_available()))
    return Protection("landlock", f"Landlock (ABI {abi})", lacks=lacks)


def _list_lacks(abi: int, *, filtered: bool) -> Iterator[str]:
    if not filtered:
        yield "Unix sockets, UDP and io_uring are not refused (no seccomp filter for this machine)"
    if abi < 2:
        yield "files cannot be moved from one folder to another (ABI 2)"
    if abi < 3 and not filtered:
        yield "a command can empty files anywhere (ABI 3)"
    if abi < 4 and not filtered:
        yield "the network cannot be taken away (ABI 4)"
    if abi < 5:
        yield "control calls to devices that a command may read are not refused (ABI 5)"
    if abi < 6:
        yield "a command can send signals to your other programs, this one too (ABI 6)"


@functools.cache
def _examine_bubblewrap() -> Protection:
    program = find_bubblewrap()
    if program is None:
        return Protection(None, "", "bubblewrap is not installed")
    command = [program, "--unshare-all", "--ro-bind", "/", "/", "true"]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as failure:
        return Protection(None, "", f"bubblewrap does not run: {failure}")
    if tried.returncode != 0:
        return Protection(None, "", f"bubblewrap does not run: {tried.stderr.strip()[-200:]}")
    return Protection("bubblewrap", "bubblewrap")


def _examine_seatbelt() -> Protection:
    if find_seatbelt() is None:
        return Protection(None, "", "this system has no sandbox-exec")
    lacks = (
        "the profile was written without a Mac to try it on",
        "processes that leave their group outlive their command",
    )
    return Protection("seatbelt", "Seatbelt", lacks=lacks)
