"""The tests of a context's behaviour."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.testing import MemoryContext, MockContextManager
from amplifier_core.validation.behavioral import ContextBehaviorTests
from tests.support.behavior import find_failures, list_tests

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
