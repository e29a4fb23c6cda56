"""What holds on a machine, and that a machine on which nothing holds says so."""

from __future__ import annotations

import subprocess
import sys

import pytest

from amplifier_hooks.sandbox import protection
from amplifier_hooks.sandbox.protection import Protection, examine_machine


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch):
    """A machine as it is told."""

    def build(abi: int, *, filtered: bool = True, bubblewrap: str | None = None) -> None:
        protection._examine_bubblewrap.cache_clear()
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(protection, "query_abi", lambda: abi)
        monkeypatch.setattr(protection, "is_available", lambda: filtered)
        monkeypatch.setattr(protection, "find_bubblewrap", lambda: bubblewrap)

    yield build
    protection._examine_bubblewrap.cache_clear()


def test_a_new_kernel_lacks_nothing(machine) -> None:
    """Its version is named."""
    machine(7)
    assert examine_machine() == Protection("landlock", "Landlock (ABI 7)")


@pytest.mark.parametrize(
    ("abi", "filtered", "words"),
    [
        (5, True, ["signals"]),
        (4, True, ["devices", "signals"]),
        (2, True, ["devices", "signals"]),
        (1, True, ["moved", "devices", "signals"]),
        (3, False, ["Unix sockets", "network", "devices", "signals"]),
        (2, False, ["Unix sockets", "empty files", "network", "devices", "signals"]),
    ],
)
def test_an_old_kernel_says_what_does_not_hold(machine, abi, filtered, words) -> None:
    """In words, each with the version that would bring it."""
    machine(abi, filtered=filtered)
    lacks = examine_machine().lacks
    assert len(lacks) == len(words)
    assert all(word in lack for word, lack in zip(words, lacks, strict=True))


def test_without_landlock_and_bubblewrap_nothing_holds(machine) -> None:
    """Both reasons are told."""
    machine(0)
    found = examine_machine()
    assert found.kind is None
    assert "Landlock" in found.reason
    assert "bubblewrap is not installed" in found.reason
    assert examine_machine("landlock").kind is None


def test_bubblewrap_counts_only_if_it_runs(machine, tmp_path) -> None:
    """Many systems have it and forbid what it needs."""
    works, fails = tmp_path / "works", tmp_path / "fails"
    works.write_text("#!/bin/sh\nexit 0\n")
    fails.write_text("#!/bin/sh\necho no namespaces >&2; exit 1\n")
    for program in (works, fails):
        program.chmod(0o755)
    machine(0, bubblewrap=str(works))
    assert examine_machine().kind == "bubblewrap"
    machine(7, bubblewrap=str(fails))
    assert "no namespaces" in examine_machine("bubblewrap").reason
    machine(7, bubblewrap=str(tmp_path / "gone"))
    assert "does not run" in examine_machine("bubblewrap").reason


def test_a_slow_bubblewrap_is_not_waited_for(machine, tmp_path, monkeypatch) -> None:
    """A session must start some time."""

    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("bwrap", 10)

    machine(0, bubblewrap="bwrap")
    monkeypatch.setattr(subprocess, "run", hang)
    assert examine_machine().kind is None


@pytest.mark.parametrize("program", ["/usr/bin/sandbox-exec", None])
def test_on_a_mac_it_says_that_nobody_tried(machine, monkeypatch, program) -> None:
    """The profile was written, and is used, and is called untested."""
    machine(0)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(protection, "find_seatbelt", lambda: program)
    found = examine_machine()
    assert found.kind == ("seatbelt" if program else None)
    assert any("without a Mac" in lack for lack in found.lacks) == bool(program)
