"""The base class that looks at an author's module without running it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from amplifier_core.errors import ModuleError
from amplifier_core.validation.structural import HookStructuralTests
from tests.support.modules import GOOD_HOOKS, write_module


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("def mount(c, k): ...", AssertionError, "write `async def mount`"),
        ("async def mount(c): ...", TypeError, "too many positional"),
        ("x = 1", ModuleError, "has no mount"),
    ],
)
def test_what_is_missing_is_said(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    """A module is found, and `mount` is async and takes coordinator and config."""

    class Looks(HookStructuralTests):
        module = write_module(tmp_path, text)

    with pytest.raises(error, match=message):
        Looks().test_the_module_has_an_async_mount()


def test_a_module_may_be_named_by_path_or_id(tmp_path: Path) -> None:
    """As in a bundle."""

    class Looks(HookStructuralTests):
        module: ClassVar[str | Path] = write_module(tmp_path, GOOD_HOOKS)

    Looks().test_the_module_has_an_async_mount()
    Looks.module = "hooks-datetime"
    Looks().test_the_module_has_an_async_mount()
