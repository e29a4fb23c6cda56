"""The request: the conversation and the tools, as a model gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.interfaces import Tool
from amplifier_core.message_models import ChatRequest, Message, ToolSpec, build_request


class RequestBuilder:
    """Builds the requests of one loop; what it built before is not validated again."""

    def __init__(self, system: str | None = None) -> None:
        self._system = system
        self._messages: dict[int, tuple[dict[str, Any], Message]] = {}
        self._tools: tuple[tuple[str, Tool], ...] = ()
        self._specs: list[ToolSpec] = []

    def describe_tools(self, tools: Mapping[str, Tool]) -> list[ToolSpec]:
        """What the model is told about the tools."""
        mounted = tuple(tools.items())
        if mounted != self._tools:
            self._tools = mounted
            self._specs = [_describe_tool(name, tool) for name, tool in mounted]
        return self._specs

    def build(self, messages: Sequence[dict[str, Any]], specs: list[ToolSpec]) -> ChatRequest:
        """The request for a conversation; the configured instructions come first."""
        validated = [self._validate(message) for message in messages]
        # By identity: contexts keep their messages, so most of them were validated before.
        # The dict is kept beside its result, so that no other dict can get its id.
        self._messages = {
            id(message): (message, result)
            for message, result in zip(messages, validated, strict=True)
        }
        if self._system:
            validated.insert(0, Message(role="system", content=self._system))
        return build_request(validated, specs or None)

    def _validate(self, message: dict[str, Any]) -> Message:
        known = self._messages.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        if message.get("content") is None:  # some contexts store a reply that only calls tools so
            message = {**message, "content": ""}
        return Message.model_validate(message)


def _describe_tool(name: str, tool: Tool) -> ToolSpec:
    # Tools of other authors may lack either; a model can call them all the same.
    return ToolSpec(
        name=name,
        description=getattr(tool, "description", None),
        parameters=getattr(tool, "input_schema", None) or {"type": "object"},
    )
