"""From a command and its wall to the order that a cell follows."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from amplifier_hooks.sandbox.bubblewrap import build_arguments
from amplifier_hooks.sandbox.cell import Order
from amplifier_hooks.sandbox.linux.landlock import query_abi
from amplifier_hooks.sandbox.linux.rulesets import RULESETS
from amplifier_hooks.sandbox.linux.seccomp import build_filter
from amplifier_hooks.sandbox.linux.system_calls import find_architecture
from amplifier_hooks.sandbox.wall import Wall

# What root keeps: files of other owners, other users' names, low ports, raw sockets, priorities.
_CAPABILITIES = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 23))
_FILTER_DESCRIPTOR = 10
_PROFILES = itertools.count(1)


@contextlib.contextmanager
def enclose(
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
