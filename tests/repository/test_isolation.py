"""The isolation that hostile programs are tested in really isolates."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.isolation import isolate, require_isolation


def run_isolated(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    require_isolation()
    command = isolate(["bash", "-c", script], writable=[folder])
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_only_the_named_folders_and_a_new_tmp_can_be_written(tmp_path: Path) -> None:
    """Everything else is read-only, and stays so for a program that calls itself root."""
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    home = Path.home()
    script = f"""
        touch {inside}/yes; touch /tmp/yes
        touch {outside}/no {home}/amplifier-no /usr/no 2>/dev/null
        mount -o remount,rw,bind / 2>/dev/null; unshare -Urm mount -o remount,rw,bind / 2>/dev/null
        touch /usr/no {home}/amplifier-no 2>/dev/null
        ls /tmp/yes
    """
    assert run_isolated(script, inside).stdout == "/tmp/yes\n"
    assert [path.name for path in inside.iterdir()] == ["yes"]
    assert list(outside.iterdir()) == []
    assert not (home / "amplifier-no").exists()
    assert not Path("/tmp/yes").exists()


def test_neither_the_network_nor_other_processes_are_in_sight(tmp_path: Path) -> None:
    """There is a loopback of its own, and no way to anybody outside."""
    script = "cat /proc/net/dev | grep -c :; ls /proc | grep -c '^[0-9]'; kill -9 $$"
    outcome = run_isolated(script, tmp_path)
    interfaces, processes = map(int, outcome.stdout.split())
    assert interfaces <= 8  # the kernel may put idle tunnels into every namespace
    assert processes <= 6
    assert outcome.returncode == 128 + 9
    assert " eth" not in run_isolated("cat /proc/net/dev", tmp_path).stdout
