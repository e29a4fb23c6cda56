"""The numbers of system calls."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.linux.system_calls import (
    ARCHITECTURES,
    find_architecture,
)

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
