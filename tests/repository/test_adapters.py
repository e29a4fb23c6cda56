"""scripts/adapters: the environments in which `make adapters` runs the real frameworks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.scripts import load_script

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "adapters"


@pytest.fixture
def script() -> ModuleType:
    """The script, as a module."""
    return load_script(SCRIPT)


def run_script(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """As `make adapters` does."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_its_names_are_those_of_the_locks(script: ModuleType) -> None:
    """In the order in which the table shows them."""
    listed = run_script("--list").stdout.split()
    assert sorted(listed) == sorted(path.stem for path in script.LOCKS.glob("*.lock"))


def test_an_unknown_name_is_refused_with_the_names_that_there_are() -> None:
    """Before anything is built."""
    done = run_script("langchain", "crew-ai")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "there is no adapter 'crew-ai'; did you mean 'crewai'? There are langchain" in done.stderr
    )
    assert "pydantic-ai" in done.stderr


def test_an_unknown_option_shows_the_usage() -> None:
    """It is no name either."""
    done = run_script("--all")
    assert done.returncode == 2
    assert "Usage:" in done.stderr


def test_what_cannot_be_installed_keeps_no_other_from_it(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named with the reason, and the exit code says that something is missing."""
    tried: list[str] = []

    def build(lock: Path, environment: Path) -> str:
        tried.append(lock.stem)
        return "no such package" if lock.stem == "strands" else ""

    monkeypatch.setattr(script, "build", build)
    assert script.main(["strands", "crewai", "strands"]) == 1
    assert tried == ["strands", "crewai"]
    assert "strands could not be installed: no such package" in capsys.readouterr().err
    assert script.main(["crewai"]) == 0


def test_a_failed_installation_is_tried_again(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is half an environment does not count as one."""
    fail = [sys.executable, "-c", "import sys; sys.exit('no luck')"]
    lock, environment = tmp_path / "some.lock", tmp_path / "some"
    lock.write_text("x")
    (environment / "bin").mkdir(parents=True)
    really_run = script.run

    def run(command: list[str]) -> str:
        return str(really_run(fail if "install" in command else [sys.executable, "-c", ""]))

    monkeypatch.setattr(script, "run", run)
    assert [script.build(lock, environment) for _ in range(2)] == ["no luck", "no luck"]
    assert not (environment / "installed.txt").exists()


@pytest.mark.slow
def test_a_lock_that_cannot_be_installed_is_a_failure(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what was said about it, by uv or by pip."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    lock, environment = tmp_path / "some.lock", tmp_path / "some"
    lock.write_text(f"amplifier-nowhere==1.0 --hash=sha256:{'0' * 64}\n")
    assert "amplifier-nowhere" in script.build(lock, environment)
    assert (environment / "bin" / "python").exists()
    assert not (environment / "installed.txt").exists()


def test_a_missing_lock_names_what_writes_it(script: ModuleType, tmp_path: Path) -> None:
    """Nothing is built without one."""
    assert "scripts/lock --adapters writes it" in script.build(tmp_path / "x.lock", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_an_environment_is_built_once_and_again_when_its_lock_has_changed(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From nothing each time, because packages that the lock has no more would stay."""
    commands: list[list[str]] = []

    def run(command: list[str]) -> str:
        commands.append(command)
        (tmp_path / "some" / "bin").mkdir(parents=True, exist_ok=True)
        return ""

    monkeypatch.setattr(script, "run", run)
    lock = tmp_path / "some.lock"
    lock.write_text("one")
    assert script.build(lock, tmp_path / "some") == script.build(lock, tmp_path / "some") == ""
    create, install = commands
    assert {"venv", "--clear"} <= set(create)
    assert install[1:] == [
        str(ROOT / "scripts" / "packages"),
        "install",
        str(lock),
        "--with-project",
    ]
    lock.write_text("two")
    assert script.build(lock, tmp_path / "some") == ""
    assert commands[2:] == [create, install]
