"""The checks that every kind of module shares: found, mountable, mounted, undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.validation import HookValidator, ToolValidator
from amplifier_core.validation.module import ModuleValidator
from tests.support.modules import GOOD_HOOKS, write_module

UNMOUNTED = GOOD_HOOKS.replace("return coordinator", "coordinator")


@pytest.mark.parametrize(
    ("text", "check", "message"),
    [
        ("x = 1", "can be found and imported", "has no mount"),
        ("import nothing_of_that_name", "can be found and imported", "nothing_of_that_name"),
        ("def broken(", "can be found and imported", "SyntaxError"),
        ("async def mount(): ...", "mount takes (coordinator, config)", "too many positional"),
        ("def mount(c, k): ...", "mount is async", "write `async def mount`"),
        ("async def mount(c, k): raise OSError('no')", "mounts", "OSError: no"),
        ("async def mount(c, k): return 3", "returns a clean-up or None", "returned int"),
        (UNMOUNTED + "    return lambda: None\n", "its clean-up removes every hook", "still reg"),
        (UNMOUNTED + "    return lambda: 1 / 0\n", "its clean-up works", "ZeroDivisionError"),
        (
            UNMOUNTED + "    async def undo(): raise OSError('undo')\n    return undo\n",
            "its clean-up works",
            "OSError: undo",
        ),
    ],
)
async def test_each_broken_promise_is_named(
    tmp_path: Path, text: str, check: str, message: str
) -> None:
    """With the cause, so that the author can mend it."""
    result = await ModuleValidator().validate(write_module(tmp_path, text))
    assert check in [one.name for one in result.errors]
    assert message in result.summary()


async def test_an_unknown_id_is_a_finding_and_no_exception() -> None:
    """An author may have mistyped it."""
    result = await ModuleValidator().validate("hooks-nonsense")
    assert [one.name for one in result.errors] == ["can be found and imported"]
    assert "Unknown module 'hooks-nonsense'" in result.summary()


async def test_a_module_may_do_without_a_clean_up(tmp_path: Path) -> None:
    """What `mount` returns is a clean-up or nothing."""
    path = write_module(tmp_path, "async def mount(coordinator, config): ...")
    assert (await ModuleValidator().validate(path)).passed


async def test_the_config_reaches_the_module(tmp_path: Path) -> None:
    """An author can check a module as it will be configured."""
    path = write_module(tmp_path, "async def mount(coordinator, config): assert config['level']")
    assert (await ModuleValidator().validate(path, {"level": 3})).passed
    assert not (await ModuleValidator().validate(path)).passed


async def test_a_module_of_the_package_is_found_by_its_id() -> None:
    """By id as in a bundle, not only by path."""
    assert (await ToolValidator().validate("tool-filesystem")).passed
    assert (await HookValidator().validate("hooks-datetime")).passed
