"""Behaviour of a context manager."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import uuid4

from amplifier_core.utils import resolve
from amplifier_core.validation.pytest_marks import asynchronous

METHODS = ("add_message", "get_messages", "get_messages_for_request", "set_messages", "clear")


class ContextBehaviorTests:
    """The context keeps what it is given, in order, and forgets it when told to.

    It may have messages of its own: only those of the tests are looked for.
    """

    @asynchronous
    async def test_the_context_has_its_methods(self, context_module: Any) -> None:
        """Those that loops and applications call."""
        missing = [name for name in METHODS if not callable(getattr(context_module, name, None))]
        assert not missing, f"there is no {', '.join(missing)}"

    @asynchronous
    async def test_a_message_is_kept(self, context_module: Any) -> None:
        """What was added can be read."""
        conversation = _Conversation(context_module)
        await conversation.add("hello")
        assert await conversation.read() == ["hello"]

    @asynchronous
    async def test_a_message_keeps_its_role(self, context_module: Any) -> None:
        """A model must know who spoke."""
        conversation = _Conversation(context_module)
        await conversation.add("hello", role="assistant")
        assert await conversation.read_with_roles() == [("hello", "assistant")]

    @asynchronous
    async def test_several_messages_are_kept_in_order(self, context_module: Any) -> None:
        """A conversation reads from top to bottom."""
        conversation = _Conversation(context_module)
        texts = ["one", "two", "three"]
        for text in texts:
            await conversation.add(text)
        assert await conversation.read() == texts

    @asynchronous
    async def test_all_messages_are_a_list(self, context_module: Any) -> None:
        """Loops add to it and count it."""
        conversation = _Conversation(context_module)
        await conversation.add("hello")
        _check_list("get_messages", await resolve(context_module.get_messages()))

    @asynchronous
    async def test_a_request_without_messages_is_a_list(self, context_module: Any) -> None:
        """Before anybody has spoken."""
        _check_list("request", await resolve(context_module.get_messages_for_request()))

    @asynchronous
    async def test_the_messages_of_a_request_are_a_list(self, context_module: Any) -> None:
        """What a loop sends to the model."""
        conversation = _Conversation(context_module)
        await conversation.add("hello")
        _check_list("request", await resolve(context_module.get_messages_for_request()))

    @asynchronous
    async def test_clearing_forgets(self, context_module: Any) -> None:
        """Nothing of the conversation is left."""
        conversation = _Conversation(context_module)
        await conversation.add("hello")
        await resolve(context_module.clear())
        assert await conversation.read() == []

    @asynchronous
    async def test_a_cleared_context_goes_on(self, context_module: Any) -> None:
        """With a new conversation."""
        conversation = _Conversation(context_module)
        await resolve(context_module.clear())
        await conversation.add("again")
        assert await conversation.read() == ["again"]

    @asynchronous
    async def test_an_empty_message_is_survived(self, context_module: Any) -> None:
        """It may be refused; the next one is kept."""
        conversation = _Conversation(context_module)
        with suppress(TypeError, ValueError):
            await resolve(context_module.add_message({}))
        await conversation.add("hello")
        assert await conversation.read() == ["hello"]


class _Conversation:
    """The messages of one test: a context that keeps them on disk has those of others as well."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._mark = f"test {uuid4().hex}: "

    async def add(self, text: str, role: str = "user") -> None:
        await resolve(self._context.add_message({"role": role, "content": self._mark + text}))

    async def read(self) -> list[str]:
        return [text for text, _ in await self.read_with_roles()]

    async def read_with_roles(self) -> list[tuple[str, str]]:
        found = await resolve(self._context.get_messages())
        texts = [(str(one.get("content")), one.get("role")) for one in found]
        return [
            (text.removeprefix(self._mark), role)
            for text, role in texts
            if text.startswith(self._mark)
        ]


def _check_list(what: str, found: Any) -> None:
    assert isinstance(found, list), f"{what} is {type(found).__name__}, not a list"


class TestContextBehavior(ContextBehaviorTests):
    """The same, for the module that `--module-path` names."""
