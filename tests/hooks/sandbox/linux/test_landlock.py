"""Rule sets: what each version of Landlock can take away."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.linux import landlock
from amplifier_hooks.sandbox.linux.landlock import (
    READ,
    WRITE,
    Access,
    build_ruleset,
    get_known_access,
    query_abi,
)

ABI = query_abi()
needs_landlock = pytest.mark.skipif(ABI < 1, reason="THIS KERNEL HAS NO LANDLOCK")


def test_each_version_knows_what_it_brought() -> None:
    """A bit that the kernel does not know would make it refuse the whole rule set."""
    first = {abi: max(get_known_access(abi)) for abi in range(1, 9)}
    assert first[1] == Access.MAKE_SYM
    assert first[2] == Access.REFER
    assert first[3] == first[4] == Access.TRUNCATE
    assert first[5] == first[6] == first[7] == first[8] == Access.IOCTL_DEV


def test_nobody_makes_devices() -> None:
    """A block device of one's own making is the whole disk."""
    assert not (READ | WRITE) & (Access.MAKE_CHAR | Access.MAKE_BLOCK)


def test_without_the_system_call_there_is_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """An old kernel answers ENOSYS, one that has it switched off EOPNOTSUPP."""

    def refuse(*_: object) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(landlock, "_call", refuse)
    assert query_abi.__wrapped__() == 0
    monkeypatch.undo()
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert query_abi.__wrapped__() == 0


@needs_landlock
@pytest.mark.parametrize("abi", range(1, ABI + 1))
def test_every_version_up_to_this_one_takes_its_rule_set(tmp_path: Path, abi: int) -> None:
    """Folders, files, places that do not exist, and links, which get no rule."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    rules = [(tmp_path / name, WRITE) for name in (".", "file", "missing", "link", "file/below")]
    os.close(build_ruleset(rules, abi, tcp=False))


@needs_landlock
def test_a_link_that_was_put_into_a_path_leads_nowhere(tmp_path: Path) -> None:
    """A rule on the target of a link would open what nobody allowed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    program = (
        "import ctypes, os, sys\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.prctl(38, 1, 0, 0, 0)\n"
        "assert libc.syscall(446, int(sys.argv[1]), 0) == 0\n"
        "os.mkdir(sys.argv[2])\n"
    )
    for name, works in (("real", True), ("link", False)):
        rules = [(Path("/"), READ), (tmp_path / name, WRITE)]
        ruleset = build_ruleset(rules, ABI, tcp=True)
        command = [sys.executable, "-I", "-S", "-c", program, str(ruleset)]
        made = tmp_path / "real" / f"by-{name}"
        done = subprocess.run([*command, str(made)], pass_fds=[ruleset], capture_output=True)
        os.close(ruleset)
        assert (done.returncode == 0, made.exists()) == (works, works)
