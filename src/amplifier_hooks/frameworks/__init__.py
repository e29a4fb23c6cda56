"""The same hooks in front of the frameworks that people build agents with."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_hooks.external.governor import Governor
    from amplifier_hooks.external.handover import answer
    from amplifier_hooks.frameworks.governing import govern

__all__ = ["Governor", "answer", "govern"]

PUBLIC_MODULES = ("own_loop",)

_HOMES = {
    "Governor": "amplifier_hooks.external.governor",
    "answer": "amplifier_hooks.external.handover",
    "govern": "amplifier_hooks.frameworks.governing",
}


def __getattr__(name: str) -> object:
    """Import a name when it is asked for: the tables can be read without any of it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
