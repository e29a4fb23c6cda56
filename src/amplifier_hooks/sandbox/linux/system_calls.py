"""The numbers of the system calls that a wall refuses or looks into, by architecture."""

from __future__ import annotations

import platform
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
