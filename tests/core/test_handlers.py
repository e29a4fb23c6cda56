"""What a handler of events may be, and what its registration may ask for."""

from __future__ import annotations

import inspect
import math
from typing import Any, get_type_hints

import pytest

from amplifier_core import interfaces
from amplifier_core.handlers import HookOptions, Limits, check_limits, check_priority, hook
from amplifier_core.hooks import HookRegistry


def test_the_options_are_those_of_the_registry() -> None:
    """What a checker lets pass must be what `register` takes."""
    taken = inspect.signature(HookRegistry.register).parameters
    assert get_type_hints(HookOptions).keys() == taken.keys() - {"self", "event", "handler"}
    for name in get_type_hints(Limits):
        assert taken[name].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("priority", [-1, 0, 10**9])
def test_a_priority_is_any_integer(priority: int) -> None:
    """Truth values are none."""
    check_priority(priority)
    with pytest.raises(TypeError, match="must be an integer, got True"):
        check_priority(True)


@pytest.mark.parametrize(
    ("limits", "kind", "text"),
    [
        (("explode", None), ValueError, "on_error must be 'continue' or 'deny', got 'explode'"),
        (("continue", "1"), TypeError, "must be a number of seconds, got '1'"),
        (("deny", math.inf), ValueError, "must be positive and finite, got inf"),
        (("continue", None, "yes"), TypeError, "parallel must be True or False, got 'yes'"),
        (("deny", None, True), ValueError, "cannot run with parallel=True"),
    ],
)
def test_what_could_not_be_kept_is_refused(
    limits: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    """With the value that was given."""
    with pytest.raises(kind, match=text):
        check_limits(*limits)


@pytest.mark.parametrize("limits", [("continue", None), ("deny", 0.5), ("continue", 2, True)])
def test_what_can_be_kept_is_taken(limits: tuple[Any, ...]) -> None:
    """A guard may have a time limit, an observer may run beside others."""
    check_limits(*limits)


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
