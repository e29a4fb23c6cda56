"""The base classes that look at the structure of an author's module."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.validation import base, structural
from amplifier_core.validation.structural import HookStructuralTests, ToolStructuralTests
from tests.support.modules import GOOD_HOOKS, write_module

KINDS = ("Hook", "Tool", "Provider", "Orchestrator", "Context")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_one_test_with_its_own_validator(kind: str) -> None:
    """Marked for strict mode."""
    tests = getattr(structural, f"{kind}StructuralTests")
    (name,) = [name for name in dir(tests) if name.startswith("test_")]
    assert [mark.name for mark in getattr(tests, name).pytestmark] == ["asyncio"]
    assert tests.validator.__name__ == f"{kind}Validator"


async def test_a_good_module_passes_and_a_bad_one_says_why(tmp_path: Path) -> None:
    """The author inherits; pytest shows what is wrong."""
    good = write_module(tmp_path, GOOD_HOOKS)
    await HookStructuralTests().test_the_module_has_the_structure_of_its_kind(good, {})
    with pytest.raises(AssertionError, match="No tool was mounted"):
        await ToolStructuralTests().test_the_module_has_the_structure_of_its_kind(
            write_module(tmp_path, "async def mount(coordinator, config): ..."), {}
        )


async def test_the_module_is_tried_with_its_config(tmp_path: Path) -> None:
    """As the author's fixture gives it."""
    path = write_module(tmp_path, "async def mount(coordinator, config): assert config['level']")
    test = HookStructuralTests().test_the_module_has_the_structure_of_its_kind
    await test(path, {"level": 1})
    with pytest.raises(AssertionError, match="KeyError"):
        await test(path, {})


async def test_without_a_module_it_is_skipped() -> None:
    """A project that has none does not fail."""
    with pytest.raises(pytest.skip.Exception):
        await HookStructuralTests().test_the_module_has_the_structure_of_its_kind(None, {})


def test_the_check_of_on_session_ready_is_here_too() -> None:
    """Authors import it from either place."""
    assert structural.check_on_session_ready is base.check_on_session_ready
