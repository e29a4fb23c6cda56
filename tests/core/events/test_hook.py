"""The mark of a function in a plain hook file."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import interfaces
from amplifier_core.handlers import hook


@pytest.mark.parametrize(
    "handler", [lambda: None, lambda event: None, lambda event, data, more: None]
)
def test_a_function_that_cannot_take_event_and_data_is_not_marked(handler: Any) -> None:
    """It would fail at each event, and be passed over."""
    with pytest.raises(TypeError, match=r"A function with @hook must take \(event, data\)"):
        hook("tool:pre")(handler)


@pytest.mark.parametrize(
    ("option", "meant"), [("prioritty", "priority"), ("onerror", "on_error"), ("time", "timeout")]
)
def test_an_option_that_does_not_exist_is_refused_where_it_stands(option: str, meant: str) -> None:
    """Not when a bundle mounts the file."""
    options: Any = {option: 1}
    with pytest.raises(TypeError, match=f"no option '{option}'; did you mean '{meant}'"):
        hook("tool:pre", **options)


def test_every_option_of_a_registration_can_be_given() -> None:
    """And the mark is found where it always was."""

    @hook("tool:post", priority=5, name="mine", on_error="continue", timeout=1, parallel=True)
    async def observe(event: str, data: dict[str, Any]) -> None: ...

    options = vars(observe)["__amplifier_hook__"]["options"]
    assert set(options) == {"priority", "name", "on_error", "timeout", "parallel"}
    assert interfaces.hook is hook


def test_a_second_mark_is_refused_instead_of_replacing_the_first() -> None:
    """A guard would otherwise listen to half of what it was written for."""

    @hook("tool:post")
    async def watch(event: str, data: dict[str, Any]) -> None: ...

    with pytest.raises(TypeError, match="one @hook, with all its events"):
        hook("prompt:submit")(watch)
