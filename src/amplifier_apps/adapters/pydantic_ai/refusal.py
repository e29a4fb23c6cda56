"""What a caller gets of a run that hooks refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai import AgentRunError, RunContext
from pydantic_ai.models import ModelRequestParameters


class RunRefused(AgentRunError):
    """Hooks refused the run, and there is no place in its output for the reason."""


def takes_text(ctx: RunContext[Any]) -> bool:
    """Whether the agent may answer with a text, so that a reason can be its answer."""
    return ctx.agent is not None and str in _list_types(ctx.agent.output_type)


def _list_types(wanted: Any) -> Iterator[Any]:
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        for one in wanted:
            yield from _list_types(one)
    else:
        yield wanted


def ends_with_text(parameters: ModelRequestParameters) -> bool:
    """Whether a text of the model ends the run as it is."""
    return parameters.allow_text_output and parameters.output_object is None
