"""Every scenario runs on every framework that is installed here."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coverage import TABLES
from tests.adapters.drivers.driver import Driver
from tests.adapters.stage import Stage

FOLDER = Path(__file__).parent / "drivers"
ONLY = os.environ.get("AMPLIFIER_ADAPTER", "").replace("-", "_")
"""The one that has to be there, where `make adapters` runs this in its environment."""


@cache
def find_drivers() -> dict[str, type[Driver]]:
    """The drivers whose framework can be imported."""
    found: dict[str, type[Driver]] = {}
    for file in sorted(FOLDER.glob("*.py")):
        if file.stem == "driver" or (ONLY and file.stem != ONLY):
            continue
        if not ONLY and not is_installed(file.stem):
            continue
        try:
            module = importlib.import_module(f"tests.adapters.drivers.{file.stem}")
        except ImportError as error:
            if ONLY or (error.name or "").startswith(("tests.", "amplifier_")):
                raise
            continue
        found[module.DRIVER_CLASS.name] = module.DRIVER_CLASS
    return found


def is_installed(name: str) -> bool:
    """Whether the package of a framework is here: its driver may set up the process for it."""
    package = next((one.package for one in TABLES if one.module.endswith(f".{name}")), "")
    try:
        return not package or bool(version(package))
    except PackageNotFoundError:
        return False


def pytest_generate_tests(metafunc: Any) -> None:
    """One test for each framework."""
    if "driver" in metafunc.fixturenames:
        metafunc.parametrize("driver", sorted(find_drivers()), indirect=True)


@pytest.fixture
def driver(request: Any) -> Driver:
    """The framework, unless it cannot do this scenario."""
    kind = find_drivers()[request.param]
    reason = kind.cannot.get(request.node.originalname.removeprefix("test_"))
    if reason is not None:
        pytest.skip(f"cannot: {reason}")
    return kind()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Hooks, people, a screen and a trail."""
    made = Stage()
    yield made
    made.close()
