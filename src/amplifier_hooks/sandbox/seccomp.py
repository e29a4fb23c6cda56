"""The numbers of the system calls that a wall refuses or looks into, by architecture."""

from __future__ import annotations

import ctypes
import errno
import functools
import platform
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_X86_64 = {
    "open": 2, "ioctl": 16, "socket": 41, "socketpair": 53, "clone": 56, "truncate": 76,
    "pivot_root": 155, "chroot": 161, "acct": 163, "mount": 165, "umount2": 166, "swapon": 167,
    "swapoff": 168, "reboot": 169, "iopl": 172, "ioperm": 173, "init_module": 175,
    "delete_module": 176, "quotactl": 179, "kexec_load": 246, "add_key": 248, "request_key": 249,
    "keyctl": 250, "openat": 257, "unshare": 272, "perf_event_open": 298, "prlimit64": 302,
    "open_by_handle_at": 304, "setns": 308, "finit_module": 313, "kexec_file_load": 320, "bpf": 321,
    "userfaultfd": 323,
}  # fmt: skip
_AARCH64 = {
    "ioctl": 29, "umount2": 39, "mount": 40, "pivot_root": 41, "truncate": 45, "chroot": 51,
    "openat": 56, "quotactl": 60, "acct": 89, "unshare": 97, "kexec_load": 104, "init_module": 105,
    "delete_module": 106, "reboot": 142, "socket": 198, "socketpair": 199, "add_key": 217,
    "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225,
    "perf_event_open": 241, "prlimit64": 261, "open_by_handle_at": 265, "setns": 268,
    "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip
_EVERYWHERE = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435,
    "openat2": 437, "mount_setattr": 442,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Architecture:
    """How system calls look to a filter. `other_calls` is where a second numbering begins."""

    audit_value: int
    numbers: dict[str, int]
    other_calls: int | None = None


ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, _X86_64 | _EVERYWHERE, 0x40000000),
    "aarch64": Architecture(0xC00000B7, _AARCH64 | _EVERYWHERE),
}


def find_architecture() -> Architecture | None:
    """That of this machine, if we know its numbers."""
    return ARCHITECTURES.get(platform.machine())


_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # of a word; with a constant; a constant
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_ALLOWED = 0x7FFF0000
_ERROR = 0x00050000
_SET_SECCOMP = 22
_FILTER = 2
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16

_UNIX = 1
_INET = 2
_INET6 = 10
_NETLINK = 16
_STREAM = 1
_SEQPACKET = 5
_TYPE_MASK = 0xF
_NEW_USER = 0x10000000
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C
_ACCESS_AND_TRUNCATE = 0o1003
_READ_AND_TRUNCATE = 0o1000

_REFUSED = (
    "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key", "request_key", "keyctl",
    "bpf", "perf_event_open", "userfaultfd", "open_by_handle_at", "mount", "umount2", "pivot_root",
    "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    "setns", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "reboot", "swapon", "swapoff", "acct", "quotactl", "iopl", "ioperm",
)  # fmt: skip

Instruction = tuple[int, int, int, int]


@functools.cache
def is_available() -> bool:
    """Whether this kernel takes filters, and we know how its system calls are numbered."""
    if sys.platform != "linux" or find_architecture() is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    no_program = ctypes.c_void_p(None)
    libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), no_program, 0, 0)
    return ctypes.get_errno() == errno.EFAULT  # it looked for the program


@functools.cache
def build_filter(
    architecture: Architecture, *, network: bool, unix_sockets: bool, truncation: bool
) -> bytes:
    """The program; `truncation` also refuses what Landlock before ABI 3 does not see."""
    numbers = architecture.numbers
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture.audit_value),
        _refuse(errno.EPERM),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if architecture.other_calls is not None:
        program += [(_AT_LEAST, 0, 1, architecture.other_calls), _refuse(errno.EPERM)]
    for name in _REFUSED:
        if name in numbers:
            program += _when(numbers[name], [_refuse(errno.EPERM)])
    # Its flags lie in memory, where a filter cannot look; the C library then uses clone.
    program += _when(numbers["clone3"], [_refuse(errno.ENOSYS)])
    for name in ("clone", "unshare"):
        program += _when(numbers[name], _refuse_bits(0, _NEW_USER))
    program += _when(numbers["ioctl"], _refuse_values(1, (_TIOCSTI, _TIOCLINUX)))
    program += _when(numbers["prlimit64"], _allow_values(0, (0,), errno.EPERM))
    program += _list_socket_rules(numbers, network, unix_sockets)
    if truncation:
        program += _list_truncation_rules(numbers)
    program.append((_RETURN, 0, 0, _ALLOWED))
    return b"".join(struct.pack("HBBI", *one) for one in program)


def _list_socket_rules(
    numbers: dict[str, int], network: bool, unix_sockets: bool
) -> list[Instruction]:
    families = [_NETLINK]
    families += [_INET, _INET6] if network else []
    families += [_UNIX] if unix_sockets else []
    rules = _when(numbers["socket"], _allow_values(0, families, errno.EACCES))
    if not unix_sockets:
        # A pair of datagram sockets can send to any address; the others stay a pair.
        pairs = _allow_values(1, (_STREAM, _SEQPACKET), errno.EACCES, mask=_TYPE_MASK)
        rules += _when(numbers["socketpair"], pairs)
    return rules


def _list_truncation_rules(numbers: dict[str, int]) -> list[Instruction]:
    rules = _when(numbers["truncate"], [_refuse(errno.EACCES)])
    rules += _when(numbers["openat2"], [_refuse(errno.ENOSYS)])
    for name, flags in (("open", 1), ("openat", 2)):
        if name in numbers:
            body = [*_load(flags, _ACCESS_AND_TRUNCATE), (_EQUAL, 0, 1, _READ_AND_TRUNCATE)]
            rules += _when(numbers[name], [*body, _refuse(errno.EACCES), _allow()])
    return rules


def _when(number: int, body: Sequence[Instruction]) -> list[Instruction]:
    """Run the body for this system call; it ends in a return."""
    return [(_EQUAL, 0, len(body), number), *body]


def _refuse(code: int) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | code)


def _allow() -> Instruction:
    return (_RETURN, 0, 0, _ALLOWED)


def _load(argument: int, mask: int = 0) -> list[Instruction]:
    """Load the lower half of an argument; the kernel reads these arguments as 32 bits too."""
    load = (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)
    return [load, (_AND, 0, 0, mask)] if mask else [load]


def _allow_values(
    argument: int, values: Iterable[int], code: int, mask: int = 0
) -> list[Instruction]:
    tests = [one for value in values for one in ((_EQUAL, 0, 1, value), _allow())]
    return [*_load(argument, mask), *tests, _refuse(code)]


def _refuse_values(argument: int, values: Iterable[int]) -> list[Instruction]:
    tests = [one for value in values for one in ((_EQUAL, 0, 1, value), _refuse(errno.EPERM))]
    return [*_load(argument), *tests, _allow()]


def _refuse_bits(argument: int, bits: int) -> list[Instruction]:
    return [*_load(argument), (_ANY_BIT, 0, 1, bits), _refuse(errno.EPERM), _allow()]
