"""The base class that tests how an author's hooks behave."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.validation.behavioral import HookBehaviorTests
from tests.support.modules import GOOD_HOOKS, write_module


async def test_a_good_module_passes_and_a_bad_one_says_why(tmp_path: Path) -> None:
    """The author inherits and names the module; pytest shows what is wrong."""

    class Behaves(HookBehaviorTests):
        module = write_module(tmp_path, GOOD_HOOKS)

    await Behaves().test_the_module_keeps_the_contract_of_hooks()
    Behaves.module = write_module(tmp_path, "def mount(c, k): ...", "bad.py")
    with pytest.raises(AssertionError, match="mount is async"):
        await Behaves().test_the_module_keeps_the_contract_of_hooks()


async def test_the_config_of_the_class_is_the_modules(tmp_path: Path) -> None:
    """A module is tested as it will be configured."""
    text = GOOD_HOOKS.replace("    return coord", "    assert config == {'n': 1}\n    return coord")

    class Behaves(HookBehaviorTests):
        module = write_module(tmp_path, text)
        config = {"n": 1}

    await Behaves().test_the_module_keeps_the_contract_of_hooks()
    Behaves.config = {}
    with pytest.raises(AssertionError, match="mounts: AssertionError"):
        await Behaves().test_the_module_keeps_the_contract_of_hooks()
