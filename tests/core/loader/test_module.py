"""A module that was found, and how it is mounted."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleValidationError
from amplifier_core.interfaces import hook
from amplifier_core.loader.module import (
    find_on_session_ready,
    mount_functions,
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
