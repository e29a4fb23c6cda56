"""Tests for hook authors that look at the module without running its hooks."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import ClassVar

from amplifier_core.loader import ModuleLoader


class HookStructuralTests:
    """The module can be imported and has an async `mount(coordinator, config)`."""

    module: ClassVar[str | Path] = ""

    def test_the_module_has_an_async_mount(self) -> None:
        """`async def mount(coordinator, config) -> cleanup | None`."""
        source = str(self.module) if isinstance(self.module, Path) else None
        found = ModuleLoader().find(str(self.module), source)
        inspect.signature(found.mount).bind(object(), {})
        assert inspect.iscoroutinefunction(found.mount), f"{found.origin}: write `async def mount`"
