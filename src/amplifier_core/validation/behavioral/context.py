"""How a context manager behaves."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

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
        await _add(context_module, "hello")
        assert await _read(context_module) == ["hello"]

    @asynchronous
    async def test_a_message_keeps_its_role(self, context_module: Any) -> None:
        """A model must know who spoke."""
        await _add(context_module, "hello", role="assistant")
        found = await resolve(context_module.get_messages())
        roles = [one["role"] for one in found if one.get("content") == "test: hello"]
        assert roles == ["assistant"]

    @asynchronous
    async def test_several_messages_are_kept_in_order(self, context_module: Any) -> None:
        """A conversation reads from top to bottom."""
        texts = ["one", "two", "three"]
        for text in texts:
            await _add(context_module, text)
        assert await _read(context_module) == texts

    @asynchronous
    async def test_all_messages_are_a_list(self, context_module: Any) -> None:
        """Loops add to it and count it."""
        await _add(context_module, "hello")
        _check_list("get_messages", await resolve(context_module.get_messages()))

    @asynchronous
    async def test_a_request_without_messages_is_a_list(self, context_module: Any) -> None:
        """Before anybody has spoken."""
        _check_list("request", await resolve(context_module.get_messages_for_request()))

    @asynchronous
    async def test_the_messages_of_a_request_are_a_list(self, context_module: Any) -> None:
        """What a loop sends to the model."""
        await _add(context_module, "hello")
        _check_list("request", await resolve(context_module.get_messages_for_request()))

    @asynchronous
    async def test_clearing_forgets(self, context_module: Any) -> None:
        """Nothing of the conversation is left."""
        await _add(context_module, "hello")
        await resolve(context_module.clear())
        assert await _read(context_module) == []

    @asynchronous
    async def test_a_cleared_context_goes_on(self, context_module: Any) -> None:
        """With a new conversation."""
        await resolve(context_module.clear())
        await _add(context_module, "again")
        assert await _read(context_module) == ["again"]

    @asynchronous
    async def test_an_empty_message_is_survived(self, context_module: Any) -> None:
        """It may be refused; the next one is kept."""
        with suppress(TypeError, ValueError):
            await resolve(context_module.add_message({}))
        await _add(context_module, "hello")
        assert await _read(context_module) == ["hello"]


async def _add(context: Any, text: str, role: str = "user") -> None:
    await resolve(context.add_message({"role": role, "content": f"test: {text}"}))


async def _read(context: Any) -> list[str]:
    """The texts of the tests, in order."""
    found = [one.get("content") for one in await resolve(context.get_messages())]
    return [text.removeprefix("test: ") for text in found if str(text).startswith("test: ")]


def _check_list(what: str, found: Any) -> None:
    assert isinstance(found, list), f"{what} is {type(found).__name__}, not a list"
