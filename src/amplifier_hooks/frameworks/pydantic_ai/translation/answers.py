"""The answer of a run: as hooks see it, and as they left it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_ai import AgentRunResult, DeferredToolRequests, PendingModelResponse
from pydantic_ai.messages import ModelResponse
from pydantic_core import to_json

from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.pydantic_ai.refusal import RunRefused
from amplifier_hooks.frameworks.pydantic_ai.translation import replies
from amplifier_hooks.frameworks.pydantic_ai.translation.json_values import to_json_values


def describe(result: AgentRunResult[Any]) -> str | None:
    """The answer as a text, JSON if it is an object; None if the run only pauses."""
    output = result.output
    if isinstance(output, DeferredToolRequests | PendingModelResponse):
        return None
    return output if isinstance(output, str) else to_json(to_json_values(output)).decode()


def restore(
    result: AgentRunResult[Any], verdict: TextVerdict, *, streamed: bool
) -> AgentRunResult[Any]:
    """The result that the caller gets; RunRefused where a reason has no place."""
    if verdict.allowed and not verdict.changed:
        return result
    if not isinstance(result.output, str):
        if not verdict.allowed:
            raise RunRefused(verdict.text)
        return replace(result, output=_parse(result.output, verdict.text))
    _rewrite_history(result, verdict.text)
    if streamed and not verdict.allowed:
        raise RunRefused(verdict.text)  # somebody has read it: a result would look as if not
    return replace(result, output=verdict.text)


def _parse(output: Any, text: str) -> Any:
    kind = type(output)
    try:
        return TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        raise RunRefused(
            f"A hook changed the answer to {text!r}, which is no {kind.__name__}: {error}"
        ) from error


def _rewrite_history(result: AgentRunResult[Any], text: str) -> None:
    """Take the answer that nobody is to read out of the messages, too."""
    messages = result.all_messages()
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            if replies.read_text(message) == result.output:
                message.parts = replies.change(message, text, None).parts
            return
