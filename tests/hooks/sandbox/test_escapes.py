"""Every way out of the wall that we know of, tried for real and in isolation."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.landlock import query_abi
from tests.support.attack_driver import KEY, run_attacks
from tests.support.attacks import BY_NUMBER, LIMITS, NETWORK, PYTHON, SHELL, SIGNALS, USUAL

needs_landlock = pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")


Reports = dict[str, tuple[int, str]]


def find_escapes(reports: Reports) -> dict[str, str]:
    """The attacks that got out, with what they printed."""
    return {
        name: printed
        for name, (_, printed) in reports.items()
        if "ESCAPED" in printed or KEY in printed
    }


def find_failures(reports: Reports) -> dict[str, str]:
    """What should work behind the wall and did not."""
    return {name: printed for name, (code, printed) in reports.items() if code != 0}


@needs_landlock
def test_no_attack_gets_out_and_usual_work_goes_on(tmp_path: Path) -> None:
    """Files, processes, sockets, namespaces, system calls: all tried, all refused."""
    attacks = run_attacks(["shell", "python"], tmp_path / "attacks")
    assert attacks.keys() == SHELL.keys() | PYTHON.keys()
    assert find_escapes(attacks) == {}
    usual = run_attacks(["usual"], tmp_path / "usual")
    assert usual.keys() == USUAL.keys()
    assert find_failures(usual) == {}


@needs_landlock
def test_what_landlock_does_not_see_is_known(tmp_path: Path) -> None:
    """What belongs to files but is not their content, and names; a later kernel may see them."""
    escapes = find_escapes(run_attacks(["limits"], tmp_path)).keys()
    # Not every file system has attributes.
    assert escapes | {"change an attribute of a file"} == LIMITS.keys()


@needs_landlock
def test_a_network_that_is_denied_cannot_be_reached_by_any_protocol(tmp_path: Path) -> None:
    """Neither TCP nor UDP nor raw; where it is allowed, the same attempts succeed."""
    assert find_escapes(run_attacks(["network"], tmp_path / "denied", network="deny")) == {}
    allowed = find_escapes(run_attacks(["network"], tmp_path / "allowed", network="allow"))
    assert allowed.keys() >= NETWORK.keys() - {"raw", "IPv6"}


@needs_landlock
@pytest.mark.parametrize("abi", [1, 2, 3, 5])
def test_an_older_kernel_refuses_the_same_except_for_signals(tmp_path: Path, abi: int) -> None:
    """With the rights that its version knows, and a filter for what it does not know."""
    if query_abi() < abi:
        pytest.skip(f"THIS KERNEL HAS LANDLOCK {query_abi()} ONLY")
    reports = run_attacks(["shell", "python"], tmp_path, abi=abi, without=sorted(SIGNALS))
    assert reports.keys() == (SHELL.keys() | PYTHON.keys()) - SIGNALS
    assert find_escapes(reports) == {}


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="BUBBLEWRAP IS NOT INSTALLED")
def test_bubblewrap_lets_no_attack_out_either(tmp_path: Path) -> None:
    """The other wall, against the same attacks; /tmp and shared memory are private there."""
    how = {"kind": "bubblewrap", "network": "deny", "without": sorted(BY_NUMBER)}
    tables = ["shell", "python", "network", "limits"]
    escapes = find_escapes(run_attacks(tables, tmp_path / "attacks", **how))
    assert escapes.keys() <= {"in /tmp", "in shared memory"}
    assert find_failures(run_attacks(["usual"], tmp_path / "usual", kind="bubblewrap")) == {}
