"""A module that was found, and the mount that it becomes with its options."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

import pytest

from amplifier_core.errors import ModuleValidationError
from amplifier_core.loader.module import Module, read_module


async def mount(coordinator: Any, config: dict[str, Any]) -> Any:
    config["seen"] = True
    return coordinator, config


async def ready(coordinator: Any) -> None: ...


def python_module(name: str = "sample", **values: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(values)
    return module


async def test_binding_gives_an_async_mount_with_the_options() -> None:
    """A new one each time; what a module does to its options stays with that mount."""
    module, options = Module("x", mount, "here"), {"a": 1}
    bound = module.bind(options)
    assert inspect.iscoroutinefunction(bound)
    for _ in range(2):
        assert await bound("host") == ("host", {"a": 1, "seen": True})
    assert options == {"a": 1}
    assert module.bind(options) is not bound
    assert await module.bind(None)("host") == ("host", {"seen": True})


async def test_a_mount_may_be_a_plain_function() -> None:
    """What it returns is what undoes it."""
    assert await Module("x", lambda coordinator, config: print, "here").bind({})(None) is print


def test_a_bound_mount_says_where_it_is_from_and_what_is_to_be_called() -> None:
    """The id and the function; nothing if the module has none."""
    with_ready: Any = Module("x", mount, "here", ready).bind({})
    without: Any = Module("x", mount, "there").bind({})
    assert with_ready.__on_session_ready__ == ("x", ready)
    assert with_ready.__module_origin__ == "here"
    assert not hasattr(without, "__on_session_ready__")


def test_a_python_module_brings_its_mount() -> None:
    """And its on_session_ready."""
    found = read_module("x", python_module(mount=mount, on_session_ready=ready), "here")
    assert found == Module("x", mount, "here", ready)


def test_a_function_brings_what_stands_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the module that its entry point names, else in the one that it is defined in."""

    async def function(coordinator: Any, config: Any) -> None: ...

    monkeypatch.setitem(sys.modules, "defining", python_module(on_session_ready=ready))
    function.__module__ = "defining"
    assert read_module("x", function, "o").on_session_ready is ready
    assert read_module("x", function, "o", "nowhere").on_session_ready is ready

    async def other(coordinator: Any) -> None: ...

    monkeypatch.setitem(sys.modules, "naming", python_module(on_session_ready=other))
    assert read_module("x", function, "o", "naming").on_session_ready is other


@pytest.mark.parametrize("found", [python_module(), python_module(mount="text"), "text", None])
def test_what_has_nothing_to_mount_is_no_module(found: Any) -> None:
    """Which one, where it is from, and what is missing."""
    why = r"'x' \(here\) has no mount\(coordinator, config\) and no function on_<event>"
    with pytest.raises(ModuleValidationError, match=why) as caught:
        read_module("x", found, "here")
    assert (caught.value.module_id, caught.value.reason_code) == ("x", "validation_failed")
