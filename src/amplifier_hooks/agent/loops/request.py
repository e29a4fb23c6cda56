"""The request: the conversation and the tools, as a model gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from amplifier_core.answers import Outcome
from amplifier_core.interfaces import Tool
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_core.utils.copying import is_equal
from amplifier_hooks.agent.loops.validated import Plain, ValidatedMessages, validate


class RequestBuilder:
    """Builds the requests of one loop; a message that was validated before is not again."""

    def __init__(self, system: str | None = None) -> None:
        self._instructions = [Message(role="system", content=system)] if system else []
        self._validated = ValidatedMessages()
        self._names: list[str] = []
        self._tools: list[Tool] = []
        self._specs: list[ToolSpec] = []

    def describe_tools(self, tools: Mapping[str, Tool]) -> list[ToolSpec]:
        """What the model is told about the tools."""
        names, mounted = list(tools), list(tools.values())
        if names != self._names or mounted != self._tools:
            self._names, self._tools = names, mounted
            self._specs = [_describe_tool(name, tool) for name, tool in tools.items()]
        return self._specs

    def build(
        self, messages: Sequence[Plain], specs: list[ToolSpec], passing: Passing | None = None
    ) -> ChatRequest:
        """The request for a conversation; the configured instructions come first."""
        results = self._validated.update(messages)
        if passing is not None:
            results = [*results[: passing.place], *map(validate, passing.behind)]
        return ChatRequest(messages=[*self._instructions, *results], tools=specs or None)


class Passing(NamedTuple):
    """What one request has in place of the end of the conversation, or behind it."""

    place: int
    behind: list[Plain]


def choose_messages(opened: Outcome, asked: list[Plain]) -> tuple[list[Plain], Passing | None]:
    """What to send: the conversation that hooks were asked about, as far as they left it as it is.

    They judge a copy, and whatever is in a copy would have to be validated again.
    """
    left: list[Plain] = (opened.data or {})["messages"]
    if left is asked or not asked or any(answer.left is not None for answer in opened.answers):
        return left, None
    # What is for this request only stands behind the conversation, or in its last message.
    for place in (len(asked), len(asked) - 1):
        if is_equal(left[:place], asked[:place]):
            behind = left[place:]
            # The list may be the context's own, and have grown since it was judged.
            is_whole = place == len(asked) and not behind
            return asked, None if is_whole else Passing(place, behind)
    return left, None


def _describe_tool(name: str, tool: Tool) -> ToolSpec:
    # Tools of other authors may lack either; a model can call them all the same.
    return ToolSpec(
        name=name,
        description=getattr(tool, "description", None),
        parameters=getattr(tool, "input_schema", None) or {"type": "object"},
    )
