"""A seccomp filter: system calls that the kernel refuses a command, where Landlock does not look.

Landlock sees files and TCP. It sees no UDP; no Unix sockets, by which daemons of the person would
run programs outside the wall; no io_uring, which makes system calls that no filter sees; and no
limits set on other processes, which can end them.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import struct
import sys
from collections.abc import Iterable, Sequence

from amplifier_hooks.sandbox.linux.system_calls import Architecture, find_architecture

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # of a word; with a constant; a constant
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_ALLOWED, _ERROR = 0x7FFF0000, 0x00050000
_SET_SECCOMP, _FILTER = 22, 2
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQPACKET, _TYPE_MASK = 1, 5, 0xF
_NEW_USER = 0x10000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_ACCESS_AND_TRUNCATE, _READ_AND_TRUNCATE = 0o1003, 0o1000

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
