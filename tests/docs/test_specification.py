"""The page on the specification is the one that its script writes, and all it names exists."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def specification() -> ModuleType:
    """The script, as a module."""
    return load_script(ROOT / "scripts" / "specification")


def test_the_page_is_the_one_that_the_script_writes(specification: ModuleType) -> None:
    """To renew it: .venv/bin/python scripts/specification."""
    page = ROOT / "docs" / "specification.md"
    assert page.read_text(encoding="utf-8") == specification.write_page()


def test_every_file_symbol_and_test_that_it_names_exists(specification: ModuleType) -> None:
    """A section that lost its place or its proof is found when that happens."""
    assert specification.list_faults() == []


@pytest.mark.parametrize(
    ("place", "there"),
    [
        ("docs/events.md", True),
        ("docs/nothing.md", False),
        ("amplifier_core.hooks", True),
        ("amplifier_core.hooks:HookRegistry.emit", True),
        ("amplifier_core.hooks:HookRegistry.shout", False),
        ("amplifier_core.nothing:HookRegistry", False),
    ],
)
def test_a_place_is_a_file_a_module_or_a_symbol(
    specification: ModuleType, place: str, there: bool
) -> None:
    """Otherwise the check would accept anything."""
    assert specification.has_place(place) is there


@pytest.mark.parametrize(
    ("test", "there"),
    [
        ("docs/test_specification.py", True),
        ("docs/test_specification.py::test_a_test_is_a_file_or_a_function_in_it", True),
        ("docs/test_specification.py::test_nothing", False),
        ("core/test_gate.py", False),
        ("core/test_approval.py::TestTheCache::test_the_scope", True),
        ("core/test_approval.py::test_the_scope", False),
    ],
)
def test_a_test_is_a_file_or_a_function_in_it(
    specification: ModuleType, test: str, there: bool
) -> None:
    """With its class, where it has one."""
    assert specification.has_test(test) is there
