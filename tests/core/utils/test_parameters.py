"""The parameters of a function that somebody else wrote."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from amplifier_core.utils.parameters import check_has, find_misfit, find_name, list_parameters


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


@pytest.mark.parametrize(
    "handler",
    [
        lambda event, data: None,
        lambda event, data, more=1: None,
        lambda *both: None,
        functools.partial(lambda more, event, data: None, 1),
        Loop().execute,
        max,
        dict.update,
    ],
)
def test_what_takes_event_and_data_fits(handler: Any) -> None:
    """Whatever kind of callable it is; one that does not tell may fit."""
    assert find_misfit(handler) is None


def test_what_takes_something_else_is_said() -> None:
    """With its signature; what cannot be called at all is refused."""
    assert find_misfit(lambda event: None) == (
        "must take (event, data); '<lambda>(event)' does not and fails whenever it is called"
    )
    with pytest.raises(TypeError, match="must be callable, got 'text'"):
        find_misfit("text")


def test_an_object_is_named_after_its_class() -> None:
    """A function has a name of its own."""
    assert (find_name(find_misfit), find_name(Loop())) == ("find_misfit", "Loop")


def test_an_object_without_the_method_is_refused() -> None:
    """One of several is enough, and no object at all is fine; a class is not an object."""
    check_has("A loop", Loop(), "run", "execute")
    check_has("A loop", None, "run")
    with pytest.raises(TypeError, match=r"^A loop needs a method run\(...\) or go\(...\); <.*Loop"):
        check_has("A loop", Loop(), "run", "go")
    with pytest.raises(TypeError, match=r"got the class itself: use Loop\(...\)"):
        check_has("A loop", Loop, "execute")
