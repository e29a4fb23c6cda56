"""A module that was found, and how it is mounted."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleValidationError
from amplifier_core.interfaces import hook
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.module import (
    Module,
    find_on_session_ready,
    mount_functions,
    pop_waiting,
    read_module,
)
from amplifier_core.testing import TestCoordinator
from tests.core.module_files import PLAIN


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


def plain(text: str = PLAIN, file: str | None = None) -> ModuleType:
    module = ModuleType("plain")
    module.__file__ = file
    exec(text, module.__dict__)
    return module


async def test_a_plain_file_registers_its_marked_and_named_functions() -> None:
    """Functions marked with @hook or named on_<event> are hooks; others are left alone."""
    coordinator = TestCoordinator()
    mount = mount_functions("plain", plain())
    unmount = await mount(coordinator, {})
    assert coordinator.hooks.list_handlers() == {
        "tool:pre": ["plain.guard"],
        "tool:post": ["plain.guard"],
        "session:start": ["plain.on_session_start"],
    }
    (handler,) = coordinator.hooks.handlers_for("tool:pre")
    assert (handler.priority, handler.on_error) == (7, "deny")
    unmount()
    assert not any(coordinator.hooks.list_handlers().values())


NAMED = """
from amplifier_core.interfaces import hook

@hook("tool:pre", name="my-guard")
async def guard(event, data):
    return None
"""


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("/far/away/first_hook.py", PLAIN, "first_hook.guard"),
        ("/far/away/second.py", PLAIN, "second.guard"),
        ("/far/away/package/__init__.py", PLAIN, "package.guard"),
        (None, PLAIN, "hooks-mine.guard"),
        ("/far/away/first.py", NAMED, "my-guard"),
    ],
)
async def test_a_hook_is_named_after_its_file_and_its_function(
    file: str | None, text: str, name: str
) -> None:
    """Functions of the same name in two files are told apart; a chosen name stays as it is."""
    coordinator = TestCoordinator()
    mount = mount_functions("hooks-mine", plain(text, file))
    assert mount is not None
    await mount(coordinator, {})
    assert coordinator.hooks.list_handlers()["tool:pre"] == [name]


async def test_a_plain_file_takes_no_config() -> None:
    """Options that nothing reads are a mistake."""
    mount = mount_functions("plain", plain())
    with pytest.raises(ModuleLoadError, match=r"'plain' takes no config, got x, y") as caught:
        await mount(TestCoordinator(), {"y": 1, "x": 1})
    assert caught.value.module_id == "plain"


@pytest.mark.parametrize("text", ["", "on_tool_pre = 'text'", "async def on_nothing(e, d): ..."])
def test_a_file_without_such_functions_has_nothing_to_mount(text: str) -> None:
    """The name of an event alone, or a function named after no event, is no hook."""
    assert mount_functions("plain", plain(text)) is None


def test_marking_needs_the_names_of_events() -> None:
    """@hook without events says what it needs."""
    with pytest.raises(TypeError, match="@hook needs the names of events"):
        hook()


@pytest.mark.parametrize("name", ["on_tool_prre", "on_tool_per", "on_tool_re", "on_tool_prr"])
def test_a_function_that_misspells_an_event_is_refused(name: str) -> None:
    """It would never be called, guard or not."""
    text = f"async def on_tool_post(event, data): ...\nasync def {name}(event, data): ..."
    with pytest.raises(ModuleLoadError, match=f"no event for '{name}'; did you mean 'on"):
        mount_functions("plain", plain(text))


def test_the_first_place_that_has_it_counts(caplog: pytest.LogCaptureFixture) -> None:
    """Some places are not there at all."""
    homes = [None, SimpleNamespace(), SimpleNamespace(on_session_ready=ready)]
    assert find_on_session_ready("x", homes) is ready
    assert find_on_session_ready("x", homes[:2]) is None
    assert not caplog.messages


def test_one_that_is_not_async_is_warned_about_and_not_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The module is named."""
    assert find_on_session_ready("x", [SimpleNamespace(on_session_ready=print)]) is None
    assert caplog.messages == ["Module 'x': on_session_ready is not async, so it is not called"]


def test_what_waits_in_a_loaders_queue_is_taken_once() -> None:
    """In its order."""
    loader = ModuleLoader()
    loader.enqueue_on_session_ready("a", ready)
    loader.enqueue_on_session_ready("b", print)
    assert pop_waiting(loader) == [("a", ready), ("b", print)]
    assert pop_waiting(loader) == []


@pytest.mark.parametrize(
    "loader", [SimpleNamespace(), SimpleNamespace(get_on_session_ready_queue=lambda: "none")]
)
def test_a_loader_of_somebody_else_may_have_no_queue(loader: Any) -> None:
    """Or something that is none."""
    assert pop_waiting(loader) == []
