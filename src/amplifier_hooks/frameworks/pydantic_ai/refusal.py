"""What a caller gets of a run that hooks refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic_ai import AgentRunError, AgentRunResult, RunContext
from pydantic_ai.models import ModelRequestParameters


class RunRefused(AgentRunError):
    """Hooks refused the run, and there is no place in its output for the reason."""


_RESULT: TypeAdapter[AgentRunResult[str]] = TypeAdapter(AgentRunResult[str])


def refuse(ctx: RunContext[Any], reason: str) -> AgentRunResult[str]:
    """The reason as the answer of the run, after the conversation as it was before.

    RunRefused if the agent does not answer with texts.
    """
    if ctx.agent is None or str not in _list_types(ctx.agent.output_type):
        raise RunRefused(reason)
    return _RESULT.validate_python(
        {
            "output": reason,
            "messages": list(ctx.messages),
            "new_message_index": len(ctx.messages),
            "usage": ctx.usage,
            "run_id": ctx.run_id,
            "conversation_id": ctx.conversation_id,
            "metadata": ctx.metadata,
        }
    )


def _list_types(wanted: Any) -> Iterator[Any]:
    parts = wanted if isinstance(wanted, Sequence) else get_args(wanted)
    if not parts or isinstance(wanted, str):
        yield wanted
    for one in () if isinstance(wanted, str) else parts:
        yield from _list_types(one)


def ends_with_text(parameters: ModelRequestParameters) -> bool:
    """Whether a text of the model ends the run as it is."""
    return parameters.allow_text_output and parameters.output_object is None
