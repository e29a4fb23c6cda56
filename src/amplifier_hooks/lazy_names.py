"""Names of a package whose modules are imported when somebody asks for one."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # importing `typing` takes longer than all that is done here
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def find_lazily(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package; `homes` has the names that each of its modules has.

    A package uses it out of sight of type checkers, which would take every misspelled name for one
    that exists; for them it imports the names where `TYPE_CHECKING` is true.
    """

    def find(name: str) -> object:
        for home, names in homes.items():
            if name in names:
                found: object = getattr(import_module(f"{package}.{home}"), name)
                setattr(sys.modules[package], name, found)
                return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
