"""Packages of another project in the place of ours: every command says so, in one sentence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
COMMANDS = (["doctor"], ["hooks", "list"], ["run", "hello"], ["--help"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages, ours among them."""
    folder = tmp_path_factory.mktemp("site")
    for one in SOURCES.glob("amplifier_*"):
        shutil.copytree(one, folder / one.name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": str(site), "PYTHONPATH": str(site)},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


def run_command(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(site, "-m", "amplifier_hooks.cli.main", *arguments)


def test_our_own_packages_are_no_clash(site: Path) -> None:
    """Nor is a kernel that is built from this project under the other's name."""
    (site / "amplifier_core-2.0.2+hooks.1.dist-info").mkdir()
    assert run_command(site, "--help").returncode == 0
    assert run(site, "-c", "import amplifier_core").returncode == 0


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    "left", ["amplifier_core/_engine.abi3.so", "amplifier_core-2.0.2.dist-info/METADATA"]
)
def test_another_kernel_is_named_by_every_command(
    site: Path, left: str, command: list[str]
) -> None:
    """Whichever was installed last: its compiled part stays, or its files are in place of ours."""
    (site / left).parent.mkdir(exist_ok=True)
    (site / left).touch()
    kernel = site / "amplifier_core/interfaces.py"
    moved = kernel.rename(kernel.with_suffix(".away"))
    try:
        done = run_command(site, *command)
    finally:
        moved.rename(kernel)
        (site / left).unlink()
        if ".dist-info" in left:
            (site / left).parent.rmdir()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "another distribution, amplifier-core" in done.stderr
    assert "pip uninstall amplifier-core amplifier-audit amplifier-hooks" in done.stderr


def test_importing_a_mixed_kernel_says_so(site: Path) -> None:
    """One sentence at the end, before anything else of it is imported."""
    engine = site / "amplifier_core/_engine.abi3.so"
    engine.touch()
    try:
        done = run(site, "-c", "import amplifier_core.models")
    finally:
        engine.unlink()
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {engine} belongs to another distribution, amplifier-core")
    assert "install amplifier-hooks again" in last
