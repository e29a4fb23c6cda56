"""Handlers as type checkers see them; scripts/typing asks the checkers themselves."""

from __future__ import annotations

import inspect
from typing import get_type_hints

from amplifier_core.handlers import HookOptions, Limits
from amplifier_core.hooks import HookRegistry


def test_the_options_are_those_of_the_registry() -> None:
    """What a checker lets pass must be what `register` takes."""
    taken = inspect.signature(HookRegistry.register).parameters
    assert get_type_hints(HookOptions).keys() == taken.keys() - {"self", "event", "handler"}
    for name in get_type_hints(Limits):
        assert taken[name].kind is inspect.Parameter.KEYWORD_ONLY
