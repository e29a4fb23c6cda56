"""Running hostile programs where they can do no harm.

`isolate` turns a command line into one that runs in namespaces of its own: no network but an empty
loopback, no process of the machine in sight, every file system read-only except the folders that
the test names and an empty /tmp and /dev/shm, and no capabilities, not even for root. It needs user
namespaces; `require_isolation` skips the test with the reason where there are none.

    subprocess.run(isolate(["bash", "-c", script], writable=[tmp_path]), timeout=30)
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # the same on x86-64 and on arm64
_AT_EMPTY_PATH, _AT_RECURSIVE = 0x1000, 0x8000
_TREE_CLONE, _MOVE_FROM_EMPTY, _READ_ONLY = 1, 0x4, 0x1
_DEATH_SIGNAL, _DROP_BOUNDING = 1, 24
_SIGKILL = 9
_UP = 1
_EMPTIED = ("/tmp", "/dev/shm")


def isolate(
    command: Sequence[str | Path],
    *,
    writable: Iterable[str | Path] = (),
    loopback: bool = True,
    user: int | None = None,
    shown_at: str | None = None,
) -> list[str]:
    """The command line that runs the command in isolation; `writable` folders stay as they are.

    `user` is what we are called inside: root cannot make namespaces of its own there, others can.
    The first writable folder can also be `shown_at` an existing place outside /tmp.
    """
    folders = [str(Path(folder).resolve()) for folder in writable]
    settings = json.dumps(
        {"writable": folders, "loopback": loopback, "user": user, "shown_at": shown_at}
    )
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), settings, *map(str, command)]


@functools.cache
def explain_lack() -> str | None:
    """Why this machine cannot isolate a program; None when it can."""
    if sys.platform != "linux":
        return f"namespaces are a matter of Linux, this is {sys.platform}"
    tried = subprocess.run(isolate(["true"]), capture_output=True, text=True, timeout=60)
    return None if tried.returncode == 0 else tried.stderr.strip()[-500:] or "it failed silently"


def require_isolation() -> None:
    """Skip the calling test where programs cannot be isolated, and say why."""
    import pytest  # here: what runs in isolation starts faster without it

    lack = explain_lack()
    if lack is not None:
        pytest.skip(f"HOSTILE PROGRAMS CANNOT BE ISOLATED HERE, so this was not tested: {lack}")


class _Kernel:
    """System calls that raise when they fail."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def call(self, name: str, *arguments: object) -> int:
        return self._check(name, getattr(self._libc, name)(*arguments))

    def call_number(self, number: int, *arguments: object) -> int:
        words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        return self._check(f"system call {number}", self._libc.syscall(number, *words))

    def _check(self, name: str, result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")
        return result

    def mount(self, source: str, target: str, kind: str | None, flags: int = 0) -> None:
        words = [None if one is None else one.encode() for one in (source, target, kind)]
        self.call("mount", *words, ctypes.c_ulong(flags), None)

    def set_read_only(self, path: str, wanted: bool, *, recursive: bool = False) -> None:
        sets, clears = (_READ_ONLY, 0) if wanted else (0, _READ_ONLY)
        attributes = struct.pack("QQQQ", sets, clears, 0, 0)
        flags = _AT_RECURSIVE if recursive else 0
        self.call_number(_MOUNT_SETATTR, -100, path.encode(), flags, attributes, len(attributes))

    def clone_tree(self, path: str) -> int:
        return self.call_number(_OPEN_TREE, -100, path.encode(), _TREE_CLONE | os.O_CLOEXEC)

    def put_tree(self, tree: int, path: str) -> None:
        self.call_number(_MOVE_MOUNT, tree, b"", -100, path.encode(), _MOVE_FROM_EMPTY)


def _enter_namespaces(kernel: _Kernel, inside: int | None) -> None:
    user, group = os.getuid(), os.getgid()
    kernel.call("unshare", _NEWUSER | _NEWNS | _NEWPID | _NEWNET | _NEWIPC)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user if inside is None else inside} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group if inside is None else inside} {group} 1")


def _build_view(kernel: _Kernel, writable: Sequence[str], shown_at: str | None) -> None:
    kernel.mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    kept = [(path, kernel.clone_tree(path)) for path in writable]
    if shown_at is not None:
        kept.append((shown_at, kernel.clone_tree(writable[0])))
    # The project and its Python may themselves lie in a folder that is empty from now on.
    seen = [(path, kernel.clone_tree(path)) for path in _list_own_folders()]
    kernel.set_read_only("/", True, recursive=True)
    for place in _EMPTIED:
        if Path(place).is_dir():
            kernel.mount("tmpfs", place, "tmpfs")
    kernel.mount("proc", "/proc", "proc")
    for path, tree in [*seen, *kept]:
        Path(path).mkdir(parents=True, exist_ok=True)
        kernel.put_tree(tree, path)
        os.close(tree)
    for path, _ in seen:
        kernel.set_read_only(path, True)


def _list_own_folders() -> list[str]:
    own = {str(Path(__file__).resolve().parents[2]), sys.prefix, sys.base_prefix}
    return sorted(path for path in own if path.startswith(_EMPTIED))


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", _UP))


def _drop_capabilities(kernel: _Kernel) -> None:
    """So that not even root can undo what was set up; the bounding set holds after exec too."""
    for capability in range(64):
        try:
            kernel.call("prctl", _DROP_BOUNDING, ctypes.c_ulong(capability), 0, 0, 0)
        except OSError:
            break
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    kernel.call("capset", header, nothing)


def _run_inside(kernel: _Kernel, settings: dict[str, Any], command: list[str]) -> None:
    kernel.call("prctl", _DEATH_SIGNAL, ctypes.c_ulong(_SIGKILL), 0, 0, 0)
    here = Path.cwd()
    _build_view(kernel, settings["writable"], settings["shown_at"])
    if settings["loopback"]:
        _raise_loopback()
    os.chdir(here if here.is_dir() else "/")  # the folder of that name in the new view
    _drop_capabilities(kernel)
    child = os.fork()  # not the first process itself: that one is deaf to signals
    if child == 0:
        os.execvp(command[0], command)
    _end_like(child)


def main() -> None:
    """Run the command of the arguments in isolation and end as it ends."""
    kernel = _Kernel()
    settings = json.loads(sys.argv[1])
    try:
        _enter_namespaces(kernel, settings["user"])
        child = os.fork()  # the first process of the new process namespace: all end with it
        if child == 0:
            _run_inside(kernel, settings, sys.argv[2:])
    except OSError as failure:
        sys.stderr.write(f"cannot isolate: {failure}\n")
        os._exit(125)
    _end_like(child)


def _end_like(child: int) -> None:
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
