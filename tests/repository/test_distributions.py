"""The three distributions of this repository: each complete, and none in the way of another."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

import amplifier_audit
from tests.support.package_index import write_wheel

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "amplifier-core": ROOT / "src" / "amplifier_core",
    "amplifier-audit": ROOT / "src" / "amplifier_audit",
    "amplifier-hooks": ROOT,
}
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "PIP_CONFIG_FILE": os.devnull}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make wheels` builds, and stand-ins for the two packages that it needs."""
    folder = tmp_path_factory.mktemp("dist")
    variables = {**os.environ, "VENV": sys.prefix}
    subprocess.run([ROOT / "scripts" / "wheels", folder], env=variables, check=True, timeout=100)
    write_wheel(folder, "pydantic", "2.12.0")
    write_wheel(folder, "pyyaml", "6.0.3")
    return folder


class Environment:
    """An environment of its own, without anything but what is installed into it."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        venv.create(folder, symlinks=True)
        self.bin, self.wheels = folder / "bin", wheels
        (self.site,) = folder.glob("lib/python*/site-packages")

    def install(self, *packages: str) -> None:
        """From the folder of wheels."""
        done = self._run_installer(
            "install", "--no-index", "--find-links", str(self.wheels), *packages
        )
        assert done.returncode == 0, done.stderr

    def is_consistent(self) -> bool:
        """What `pip check` says."""
        return self._run_installer("check").returncode == 0

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A program of the environment, with nothing of this one."""
        command = [str(self.bin / program), *arguments]
        return subprocess.run(
            command, env=ENVIRONMENT, cwd=self.site, capture_output=True, text=True, timeout=60
        )

    def _run_installer(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        python = str(self.bin / "python")
        if importlib.util.find_spec("pip"):
            start = [sys.executable, "-m", "pip", "--python", python, command]
        else:
            uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
            start = [uv, "pip", command, "--python", python]
        return subprocess.run(
            [*start, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=100
        )


@pytest.fixture
def environment(tmp_path: Path, wheels: Path) -> Environment:
    """A fresh one."""
    return Environment(tmp_path / "env", wheels)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Environment:
    """One with ours, where another kernel was before; a test leaves it as it was."""
    folder = tmp_path_factory.mktemp("installed")
    environment = Environment(folder / "env", wheels)
    environment.install(write_other_kernel(folder))
    assert list(environment.site.glob("amplifier_core/_engine*"))
    environment.install("amplifier-hooks")
    return environment


def read_project(name: str) -> dict[str, Any]:
    """What a pyproject.toml says of its distribution."""
    text = (FOLDERS[name] / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def write_other_kernel(folder: Path) -> str:
    """Another project's `amplifier-core`, with its compiled engine; answers with where it is."""
    files = ("amplifier_core/__init__.py", "amplifier_core/_engine.abi3.so")
    return str(write_wheel(folder, "amplifier_core", "2.0.2", modules=files))


@pytest.mark.parametrize("name", ["amplifier-core", "amplifier-audit"])
def test_a_source_archive_builds_the_same_wheel(name: str, wheels: Path, tmp_path: Path) -> None:
    """It is complete by itself."""
    stem = name.replace("-", "_")
    (archive,), (wheel,) = wheels.glob(f"{stem}-*.tar.gz"), wheels.glob(f"{stem}-*.whl")
    with tarfile.open(archive) as source:
        source.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    command.append(str(tmp_path / "again"))
    subprocess.run(command, cwd=unpacked, check=True, capture_output=True, timeout=60)
    (again,) = (tmp_path / "again").iterdir()
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(wheel).namelist()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_wheel_has_one_package_and_a_licence(name: str, wheels: Path) -> None:
    """Whole, and nothing of the others."""
    stem = name.replace("-", "_")
    (wheel,) = wheels.glob(f"{stem}-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    package = ROOT / "src" / stem
    modules = {one.relative_to(ROOT / "src").as_posix() for one in package.rglob("*.py")}
    assert {one for one in names if one.endswith(".py")} == modules
    assert {one.partition("/")[0].partition("-")[0] for one in names} == {stem}
    assert f"{stem}/py.typed" in names
    assert f"{stem}/pyproject.toml" not in names
    assert (FOLDERS[name] / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_each_says_what_it_stands_on() -> None:
    """amplifier-hooks needs exactly the other two; the trail needs nothing; the Python is one."""
    core, audit, hooks = map(read_project, FOLDERS)
    ours = [one for one in hooks["dependencies"] if one.startswith("amplifier-")]
    assert ours == [f"{one['name']}=={one['version']}" for one in (core, audit)]
    assert [one.partition(">")[0] for one in core["dependencies"]] == ["pydantic"]
    assert set(core["dependencies"]) < set(hooks["dependencies"])
    assert "dependencies" not in audit
    assert audit["optional-dependencies"] == {"signing": hooks["optional-dependencies"]["audit"]}
    assert len({one["requires-python"] for one in (core, audit, hooks)}) == 1
    assert core["version"].startswith("2.0.2+hooks.")


async def test_the_trail_is_installed_alone_and_verifies_a_log(
    environment: Environment, tmp_path: Path
) -> None:
    """With Python and its wheel, and nothing else."""
    log = await amplifier_audit.AuditLog.open(tmp_path / "log")
    log.append("user_message", {"text": "hello"})
    await log.close()
    environment.install("amplifier-audit")
    installed = {one.name.partition("-")[0] for one in environment.site.glob("*.dist-info")}
    assert installed == {"amplifier_audit"}
    done = environment.run("python", "-m", "amplifier_audit", "verify", str(tmp_path / "log"))
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("CONSISTENT")


def test_a_module_that_depends_on_amplifier_core_is_content_with_ours(
    installed: Environment,
) -> None:
    """Nothing is fetched, and nothing of ours is replaced."""
    for name, needs in (("one", ">=1.0"), ("other", "==2.0.2")):
        module = f"amplifier_module_{name}"
        write_wheel(installed.wheels, module, "1.0", needs=f"amplifier-core{needs}")
    installed.install("amplifier-module-one", "amplifier-module-other")
    (metadata,) = installed.site.glob("amplifier_core-*.dist-info")
    assert "+hooks." in metadata.name
    assert installed.is_consistent()
    assert installed.run("amplifier-hooks", "--version").returncode == 0


def test_ours_replaces_another_kernel_completely(installed: Environment) -> None:
    """No engine is left, so that nothing is mixed."""
    assert not list(installed.site.glob("amplifier_core/_engine*"))
    assert installed.run("python", "-c", "import amplifier_core").returncode == 0


def test_another_kernel_that_replaces_ours_is_named(installed: Environment, tmp_path: Path) -> None:
    """By pip, and by each command in one sentence."""
    installed.install(write_other_kernel(tmp_path))
    try:
        assert not installed.is_consistent()
        for command in (["doctor"], ["--help"]):
            done = installed.run("amplifier-hooks", *command)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert "not completely installed" in done.stderr
            assert "docs/installing.md" in done.stderr
    finally:
        installed.install("amplifier-hooks")


def test_what_is_removed_afterwards_is_named(installed: Environment, tmp_path: Path) -> None:
    """As by the removal of a version of ours that had all three packages in one."""
    removed = shutil.move(installed.site / "amplifier_audit", tmp_path)
    try:
        done = installed.run("amplifier", "doctor")
    finally:
        shutil.move(removed, installed.site)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "No module named 'amplifier_audit'" in done.stderr
