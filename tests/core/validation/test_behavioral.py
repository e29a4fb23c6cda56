"""The tests of behaviour that authors inherit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import ToolResult
from amplifier_core.testing import (
    EventRecorder,
    MemoryContext,
    MockContextManager,
    MockCoordinator,
    MockProvider,
    MockTool,
)
from amplifier_core.validation.behavioral import (
    ContextBehaviorTests,
    HookBehaviorTests,
    OrchestratorBehaviorTests,
    ProviderBehaviorTests,
    ToolBehaviorTests,
)
from tests.support.behavior import find_failures, list_tests
from tests.support.modules import GOOD_HOOKS, write_module

RAISES = GOOD_HOOKS.replace('return HookResult(action="continue")', "raise ValueError('no')")
FAILING_UNDO = "async def mount(coordinator, config):\n    return lambda: 1 / 0\n"
NO_UNDO = "async def mount(coordinator, config): ...\n"
ASYNC_UNDO = """
async def mount(coordinator, config):
    async def undo(): coordinator.undone = True
    return undo
"""

with_mounting = pytest.mark.parametrize(
    "test",
    [
        HookBehaviorTests().test_the_clean_up_does_not_raise,
        HookBehaviorTests().test_events_pass_after_the_clean_up,
    ],
)
with_events = pytest.mark.parametrize(
    "test",
    [
        HookBehaviorTests().test_an_event_with_data_passes,
        HookBehaviorTests().test_an_event_without_data_passes,
        HookBehaviorTests().test_an_event_with_empty_data_passes,
    ],
)


def test_there_are_seven() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(HookBehaviorTests)) == 7


@with_mounting
@pytest.mark.parametrize("text", [GOOD_HOOKS, RAISES, NO_UNDO, ASYNC_UNDO])
async def test_every_clean_up_that_works_will_do(
    tmp_path: Path, test: Callable[..., Any], text: str
) -> None:
    """Sync, async or none."""
    await test(write_module(tmp_path, text), {}, MockCoordinator())


@with_mounting
async def test_a_clean_up_that_raises_fails(tmp_path: Path, test: Callable[..., Any]) -> None:
    """The author sees its error."""
    with pytest.raises(ZeroDivisionError):
        await test(write_module(tmp_path, FAILING_UNDO), {}, MockCoordinator())


async def test_an_async_clean_up_is_awaited(tmp_path: Path) -> None:
    """And what it does has been done."""
    coordinator: Any = MockCoordinator()
    test = HookBehaviorTests().test_the_clean_up_does_not_raise
    await test(write_module(tmp_path, ASYNC_UNDO), {}, coordinator)
    assert coordinator.undone


@pytest.mark.parametrize(("returned", "passes"), [(None, True), (print, True), (3, False)])
async def test_mount_returns_a_clean_up_or_none(returned: Any, passes: bool) -> None:
    """Anything else fails."""
    test = HookBehaviorTests().test_mount_returns_a_clean_up_or_none
    if passes:
        await test(returned)
        return
    with pytest.raises(AssertionError, match="mount returned int"):
        await test(returned)


@with_events
async def test_an_answer_must_be_a_result(test: Callable[..., Any]) -> None:
    """Whatever the event carries."""
    coordinator = MockCoordinator()
    await test(None, coordinator)

    class Broken:
        async def emit(self, event: str, data: Any) -> str:
            return "yes"

    coordinator.hooks = Broken()  # type: ignore[assignment]
    with pytest.raises(AssertionError, match="emit gave str"):
        await test(None, coordinator)


async def test_a_module_must_not_replace_the_registry() -> None:
    """Others have registered there."""
    coordinator = MockCoordinator()
    test = HookBehaviorTests().test_the_module_mounts
    await test(None, coordinator)
    coordinator.mount_points["hooks"] = None
    with pytest.raises(AssertionError, match="registry was replaced"):
        await test(None, coordinator)


CALLS = {"test_a_call_gives_a_result", "test_an_empty_call_gives_a_result"}
BLUNDER = {*CALLS, "test_an_empty_call_is_no_blunder"}


def test_there_are_seven_tool() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(ToolBehaviorTests)) == 7


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("fine", set()),
        (ToolResult(success=False, error="what?"), set()),
        (ValueError("refused"), set()),
        (lambda given: given["path"], BLUNDER),
        (AttributeError("no"), BLUNDER),
        (TypeError("no"), BLUNDER),
    ],
)
async def test_a_tool_must_not_stumble_over_missing_arguments(
    output: Any, failed: set[str]
) -> None:
    """A result that says no, or an exception of its choice, is no blunder."""
    assert await find_failures(ToolBehaviorTests, lambda: (MockTool("t", output),)) == failed


async def test_an_answer_must_be_a_result_tool() -> None:
    """A loop cannot do with less."""

    class Plain(MockTool):
        async def execute(self, input: dict[str, Any]) -> Any:
            return "text"

    assert await find_failures(ToolBehaviorTests, lambda: (Plain("t"),)) == CALLS


@pytest.mark.parametrize(
    ("attribute", "value", "failed"),
    [
        ("name", "", {"test_the_tool_has_a_name"}),
        ("name", None, {"test_the_tool_has_a_name"}),
        ("description", " ", {"test_the_tool_has_a_description"}),
        ("description", 3, {"test_the_tool_has_a_description"}),
        ("input_schema", None, {"test_the_schema_is_a_dict_if_there_is_one"}),
        ("execute", None, {*BLUNDER, "test_the_tool_can_be_executed"}),
    ],
)
async def test_a_tool_must_say_what_it_is(attribute: str, value: Any, failed: set[str]) -> None:
    """One fault, one test, as far as that goes."""

    def make() -> tuple[MockTool]:
        tool = MockTool("t")
        setattr(tool, attribute, value)
        return (tool,)

    assert await find_failures(ToolBehaviorTests, make) == failed


async def test_a_schema_is_optional() -> None:
    """Tools of the ecosystem may have none."""

    def make() -> tuple[MockTool]:
        tool = MockTool("t")
        del tool.input_schema
        return (tool,)

    assert await find_failures(ToolBehaviorTests, make) == set()


def test_there_are_five() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(ProviderBehaviorTests)) == 5


async def test_a_provider_that_does_everything_passes() -> None:
    """The double is one."""
    assert await find_failures(ProviderBehaviorTests, lambda: (MockProvider(),)) == set()


async def _no_list() -> None: ...


@pytest.mark.parametrize(
    ("attribute", "value", "failed"),
    [
        ("name", "", "test_the_provider_has_a_name"),
        ("get_info", dict, "test_the_provider_introduces_itself"),
        ("list_models", _no_list, "test_the_provider_lists_its_models"),
        ("parse_tool_calls", str, "test_the_provider_finds_the_tool_calls_of_a_response"),
        ("complete", None, "test_the_provider_can_complete"),
    ],
)
async def test_each_fault_fails_its_own_test(attribute: str, value: Any, failed: str) -> None:
    """So that the author sees what it is."""

    def make() -> tuple[MockProvider]:
        provider = MockProvider()
        setattr(provider, attribute, value)
        return (provider,)

    assert await find_failures(ProviderBehaviorTests, make) == {failed}


GREETING = {"role": "system", "content": "Be kind."}


def test_there_are_ten() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(ContextBehaviorTests)) == 10


class Greets(MemoryContext):
    """Begins every conversation with words of its own."""

    def __init__(self) -> None:
        super().__init__([GREETING])

    async def clear(self) -> None:
        self.messages = [GREETING]


class Refuses(MemoryContext):
    """Takes no message without a role."""

    async def add_message(self, role: Any = None, *args: Any, **more: Any) -> None:
        if not role:
            raise ValueError("A message needs a role")
        await super().add_message(role, *args, **more)


@pytest.mark.parametrize("kind", [MemoryContext, MockContextManager, Greets, Refuses])
async def test_a_context_that_keeps_its_messages_passes(kind: type[MemoryContext]) -> None:
    """Whether it answers at once or has to be awaited, and whatever it adds itself."""
    assert await find_failures(ContextBehaviorTests, lambda: (kind(),)) == set()


class Forgets(MemoryContext):
    async def add_message(self, *args: Any, **more: Any) -> None: ...


class Reverses(MemoryContext):
    async def add_message(self, role: Any = None, *args: Any, **more: Any) -> None:
        self.messages.insert(0, role)


class ClearsNothing(MemoryContext):
    async def clear(self) -> None: ...


class Breaks(MemoryContext):
    async def add_message(self, role: Any = None, *args: Any, **more: Any) -> None:
        await super().add_message({**role, "role": role["role"]})


class GivesTuples(MemoryContext):
    def get_messages(self) -> Any:
        return tuple(self.messages)

    def get_messages_for_request(self, token_budget: Any = None, provider: Any = None) -> Any:
        return tuple(self.messages)


class OneVoice(MemoryContext):
    async def add_message(self, role: Any = None, *args: Any, **more: Any) -> None:
        await super().add_message({**role, "role": "user"})


@pytest.mark.parametrize(
    ("kind", "failed"),
    [
        (
            Forgets,
            {
                "test_a_message_is_kept",
                "test_a_message_keeps_its_role",
                "test_several_messages_are_kept_in_order",
                "test_a_cleared_context_goes_on",
                "test_an_empty_message_is_survived",
            },
        ),
        (Reverses, {"test_several_messages_are_kept_in_order"}),
        (ClearsNothing, {"test_clearing_forgets"}),
        (Breaks, {"test_an_empty_message_is_survived"}),
        (
            GivesTuples,
            {
                "test_all_messages_are_a_list",
                "test_a_request_without_messages_is_a_list",
                "test_the_messages_of_a_request_are_a_list",
            },
        ),
        (OneVoice, {"test_a_message_keeps_its_role"}),
        (object, set(list_tests(ContextBehaviorTests))),
    ],
)
async def test_each_fault_is_found(kind: type, failed: set[str]) -> None:
    """By the tests that are about it."""
    assert await find_failures(ContextBehaviorTests, lambda: (kind(),)) == failed


async def test_a_context_that_keeps_its_messages_on_disk_passes() -> None:
    """Every test gets a new object, which begins with what the tests before it have left."""
    kept: list[dict[str, Any]] = []

    class Persistent(MemoryContext):
        def __init__(self) -> None:
            super().__init__(kept)

        async def add_message(self, *args: Any, **more: Any) -> None:
            await super().add_message(*args, **more)
            kept[:] = self.messages

    assert await find_failures(ContextBehaviorTests, lambda: (Persistent(),)) == set()
    assert kept


class Loop:
    """A loop with one fault, or none."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    async def execute(
        self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any
    ) -> Any:
        if self.fault == "needs a prompt" and not prompt:
            raise IndexError("no prompt")
        if self.fault != "forgets":
            await context.add_message({"role": "user", "content": prompt})
        await hooks.emit("provider:request", {"tools": list(tools)})
        response = await providers["default"].complete(await context.get_messages_for_request())
        return {"says nothing": "", "returns the response": response}.get(self.fault, response.text)


def test_there_are_six() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(OrchestratorBehaviorTests)) == 6


@pytest.mark.parametrize(
    ("fault", "failed"),
    [
        ("", set()),
        ("forgets", {"test_the_conversation_grows"}),
        ("needs a prompt", {"test_an_empty_prompt_is_survived"}),
        ("says nothing", {"test_the_text_is_not_empty", "test_an_empty_prompt_is_survived"}),
        ("returns the response", {"test_a_turn_ends_with_a_text", "test_one_turn_follows_another"}),
    ],
)
async def test_each_fault_is_found_orchestrator(fault: str, failed: set[str]) -> None:
    """By the test that is about it."""

    def make() -> tuple[Any, ...]:
        hooks = EventRecorder()
        given = (MockContextManager(), {"default": MockProvider()}, {"t": MockTool("t")}, hooks)
        return Loop(fault), given

    assert await find_failures(OrchestratorBehaviorTests, make) == failed


async def test_what_cannot_be_executed_fails_them_all() -> None:
    """It is no loop."""
    failed = await find_failures(OrchestratorBehaviorTests, lambda: (object(), (None,) * 4))
    assert failed == set(list_tests(OrchestratorBehaviorTests))
