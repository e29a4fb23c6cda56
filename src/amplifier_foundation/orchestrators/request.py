"""The request: the conversation and the tools, as a model gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.interfaces import Tool
from amplifier_core.message_models import ChatRequest, Message, ToolSpec, build_request
from amplifier_core.models.outcome import Outcome
from amplifier_core.utils.copying import is_equal
from amplifier_foundation.modules.looking import HELD_ONCE, count_holders
from amplifier_foundation.orchestrators.sent_messages import SentMessages
from amplifier_foundation.orchestrators.validated import ValidatedMessages


class RequestBuilder:
    """Builds the requests of one loop; what it built before is neither validated nor copied."""

    def __init__(self, system: str | None = None) -> None:
        self._instructions = [Message(role="system", content=system)] if system else []
        self._validated = ValidatedMessages()
        self._sent = SentMessages()
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

    def build(self, messages: Sequence[dict[str, Any]], specs: list[ToolSpec]) -> ChatRequest:
        """The request for a conversation; the configured instructions come first."""
        kept = self._validated.update(messages)
        # The list of the last request is the provider's, if it kept that or has changed it.
        if (
            count_holders(self._sent) <= HELD_ONCE
            and not self._sent.changed
            and len(self._sent) == len(self._instructions) + kept
        ):
            self._sent.grow(self._validated.results[kept:])
        else:
            self._sent = SentMessages([*self._instructions, *self._validated.results])
        return build_request(self._sent, specs or None)


def choose_messages(opened: Outcome, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What to send: what the hooks leave; if that is what they were asked about, that very list.

    They judge a copy, and whatever is in a copy would have to be validated again.
    """
    left: list[dict[str, Any]] = (opened.data or {})["messages"]
    if left is asked or any(answer.left is not None for answer in opened.answers):
        return left
    return asked if is_equal(left, asked) else left


def _describe_tool(name: str, tool: Tool) -> ToolSpec:
    # Tools of other authors may lack either; a model can call them all the same.
    return ToolSpec(
        name=name,
        description=getattr(tool, "description", None),
        parameters=getattr(tool, "input_schema", None) or {"type": "object"},
    )
