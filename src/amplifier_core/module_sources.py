"""Module sources: the interface of a resolver of the ecosystem, and of its answers.

An application mounts a resolver at `module-source-resolver` before it initializes its session. The
loader then asks it for every module, before it looks anywhere else.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from amplifier_core.utils import resolve


class ModuleNotFoundError(Exception):
    """The resolver does not know the module; the caller looks elsewhere."""


class ModuleLoadError(Exception):
    """The resolver knows the module, but cannot bring it."""


class ModuleSource(ABC):
    """The place of one module."""

    @abstractmethod
    def resolve(self) -> Path:
        """The folder that the module can be imported from."""


@runtime_checkable
class ModuleSourceResolver(Protocol):
    """Finds the source of a module; it may have an `async_resolve` of the same parameters too."""

    def resolve(
        self, module_id: str, source_hint: str | None = None, profile_hint: str | None = None
    ) -> Any: ...


class FileSystemModuleSource(ModuleSource):
    """Modules in folders of this machine."""

    def __init__(self, paths: Sequence[Path | str] | None = None) -> None:
        self.paths = [Path(path) for path in paths or ()]

    def resolve(self) -> Path:
        """The first of the folders that is there."""
        for path in self.paths:
            if path.is_dir():
                return path
        raise ModuleNotFoundError(
            f"None of these folders is there: {', '.join(map(str, self.paths))}"
        )

    def get_module_paths(self) -> list[Path]:
        """The folders."""
        return list(self.paths)

    def get_mention_mappings(self) -> dict[str, Path]:
        """What may be mentioned, and where it is: folders of modules offer nothing."""
        return {}


async def ask_resolver(resolver: Any, module_id: str, hint: Any) -> Path | None:
    """The folder that a resolver names for a module; None if it does not know the module."""
    ask = getattr(resolver, "async_resolve", None) or resolver.resolve
    hints = {"source_hint": hint, "profile_hint": hint}
    try:
        source = await resolve(ask(module_id, **_select_accepted(ask, hints)))
        return Path(await resolve(source.resolve()))
    except ModuleNotFoundError:
        return None


def _select_accepted(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Leave out keywords that a resolver written for an older or newer version does not take."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return given
    return {name: value for name, value in given.items() if name in parameters}
