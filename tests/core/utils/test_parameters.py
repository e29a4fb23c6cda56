"""The parameters of a function that somebody else wrote."""

from __future__ import annotations

from typing import Any

from amplifier_core.utils.parameters import list_parameters


class Loop:
    async def execute(self, prompt: str, context: Any, **more: Any) -> None: ...


def test_names_and_any_others_are_told() -> None:
    """`**` stands for parameters of any name."""
    assert list_parameters(lambda a, b=1: None) == {"a", "b"}
    assert list_parameters(Loop.execute) == {"self", "prompt", "context", "more", "**"}


def test_a_bound_method_is_read_once() -> None:
    """A method is a new object at each look; what it takes is remembered by its function."""
    assert list_parameters(Loop().execute) is list_parameters(Loop().execute)


def test_a_function_that_does_not_tell_is_none() -> None:
    """Whoever calls it decides what that means."""
    assert list_parameters(dict.update) is None
