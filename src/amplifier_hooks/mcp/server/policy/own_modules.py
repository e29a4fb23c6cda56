"""Which modules are ours, as the loader would find them."""

from __future__ import annotations

import os
from functools import cached_property
from importlib.metadata import EntryPoint
from pathlib import Path

from amplifier_core.loader import DISTRIBUTION, SEARCH_PATHS, ModuleLoader
from amplifier_core.loader.importing import is_importable, package_name
from amplifier_core.mount_plan import ModuleEntry


class OwnModules:
    """Looks once; every other module of the same id comes before one of ours."""

    def __init__(self) -> None:
        self._seen: dict[str, bool] = {}

    def include(self, entry: ModuleEntry) -> bool:
        """Whether an entry names a module of ours, and none comes before it."""
        if entry.source is not None:
            return False
        if entry.module not in self._seen:
            self._seen[entry.module] = self._is_ours(entry.module)
        return self._seen[entry.module]

    @cached_property
    def _known(self) -> dict[str, EntryPoint]:
        return ModuleLoader().known()

    def _is_ours(self, module: str) -> bool:
        point = self._known.get(module)
        owner = getattr(point.dist, "name", None) if point is not None else None
        return owner == DISTRIBUTION and not _has_other(module)


def _has_other(module: str) -> bool:
    name = package_name(module)
    roots = filter(None, os.environ.get(SEARCH_PATHS, "").split(":"))
    return (name.isidentifier() and is_importable(name)) or any(
        (Path(root).expanduser() / f"amplifier-module-{module}").exists() for root in roots
    )
