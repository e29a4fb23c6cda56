"""The filter's program, run by a small interpreter of its instructions."""

from __future__ import annotations

import errno
import platform
import re
import struct
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.seccomp import (
    ARCHITECTURES,
    build_filter,
    find_architecture,
    is_available,
)

ALLOWED = 0
UNIX, INET, NETLINK, VSOCK = 1, 2, 16, 40


def run(program: bytes, audit_value: int, number: int, *arguments: int) -> int:
    """What the kernel would answer: 0, or the number of the error."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, audit_value, 0, *words)
    at, value = 0, 0
    while True:
        code, yes, no, constant = struct.unpack_from("HBBI", program, at * 8)
        at += 1
        if code == 0x06:
            return 0 if constant == 0x7FFF0000 else constant & 0xFFFF
        if code == 0x20:
            value = struct.unpack_from("<I", data, constant)[0]
        elif code == 0x54:
            value &= constant
        else:
            test = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}
            at += yes if test[code] else no


@pytest.fixture(params=sorted(ARCHITECTURES))
def call(request: pytest.FixtureRequest):
    """Ask a filter about a system call by name."""
    architecture = ARCHITECTURES[request.param]

    def ask(name: str, *arguments: int, **options: bool) -> int:
        chosen = {"network": True, "unix_sockets": False, "truncation": False, **options}
        program = build_filter(architecture, **chosen)
        return run(program, architecture.audit_value, architecture.numbers[name], *arguments)

    return ask


def test_this_machine_takes_filters_if_we_know_its_numbers() -> None:
    """Every kernel that has Landlock has filters too."""
    assert is_available() == (find_architecture() is not None)


def test_sockets_are_those_of_the_policy(call) -> None:
    """Families that nobody thought of are refused in any case."""
    assert call("socket", INET) == ALLOWED
    assert call("socket", INET, network=False) == errno.EACCES
    assert call("socket", UNIX) == errno.EACCES
    assert call("socket", UNIX, unix_sockets=True) == ALLOWED
    assert call("socket", NETLINK, network=False) == ALLOWED
    assert call("socket", VSOCK, unix_sockets=True) == errno.EACCES


@pytest.mark.parametrize(("kind", "answer"), [(1, ALLOWED), (5, ALLOWED), (2, 13), (3, 13)])
def test_pairs_that_can_send_elsewhere_are_refused(call, kind: int, answer: int) -> None:
    """With the flags that may be added to the kind of a socket."""
    assert call("socketpair", UNIX, kind | 0o2000000) == answer
    assert call("socketpair", UNIX, kind, unix_sockets=True) == ALLOWED


@pytest.mark.parametrize(
    "name", ["io_uring_setup", "keyctl", "mount", "setns", "bpf", "open_by_handle_at"]
)
def test_ways_around_are_refused(call, name: str) -> None:
    """Whatever their arguments are."""
    assert call(name) == errno.EPERM


def test_arguments_are_looked_into(call) -> None:
    """Only user namespaces, only limits of others, only typing into terminals."""
    assert call("unshare", 0x10000000) == errno.EPERM
    assert call("unshare", 0x400) == ALLOWED
    assert call("clone", 0x10000000 | 17) == errno.EPERM
    assert call("clone", 17) == ALLOWED
    assert call("clone3") == errno.ENOSYS
    assert call("prlimit64", 0) == ALLOWED
    assert call("prlimit64", 4711) == errno.EPERM
    assert call("ioctl", 0, 0x5412) == errno.EPERM
    assert call("ioctl", 0, 0x5401) == ALLOWED


def test_before_abi_3_the_filter_refuses_to_empty_files(call) -> None:
    """By the call, and by opening for reading."""
    reading, writing = 0o1000, 0o1001
    assert call("truncate") == ALLOWED
    assert call("truncate", truncation=True) == errno.EACCES
    assert call("openat", 0, 0, reading, truncation=True) == errno.EACCES
    assert call("openat", 0, 0, writing, truncation=True) == ALLOWED
    assert call("openat2", truncation=True) == errno.ENOSYS


def test_other_numberings_are_refused() -> None:
    """32-bit programs and x32 have other numbers for the same calls."""
    x86 = ARCHITECTURES["x86_64"]
    program = build_filter(x86, network=True, unix_sockets=True, truncation=False)
    assert run(program, 0x40000003, 20) == errno.EPERM
    assert run(program, x86.audit_value, 0x40000000 | 39) == errno.EPERM
    assert run(program, x86.audit_value, 39) == ALLOWED


HEADERS = {
    "x86_64": (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), r"__NR_(\w+)\s+(\d+)"),
    "aarch64": (Path("/usr/include/asm-generic/unistd.h"), r"__NR(?:3264)?_(\w+)\s+(\d+)"),
}


@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_the_numbers_are_those_of_the_headers(name: str) -> None:
    """Where the kernel's headers are installed."""
    path, pattern = HEADERS[name]
    if not path.exists():
        pytest.skip(f"{path} is not installed")
    known = {key: int(value) for key, value in re.findall(pattern, path.read_text())}
    ours = ARCHITECTURES[name].numbers
    assert {key: known[key] for key in ours if key in known} == {
        key: value for key, value in ours.items() if key in known
    }
    assert len(ours.keys() & known.keys()) > 25


def test_an_unknown_machine_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is no filter, and doctor says so."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert find_architecture() is None
