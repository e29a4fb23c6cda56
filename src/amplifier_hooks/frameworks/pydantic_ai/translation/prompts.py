"""The prompt of a run, wherever the caller put it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_ai import RunContext, UserPromptNode
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from amplifier_hooks.frameworks.pydantic_ai.translation import contents


def find_prompt(ctx: RunContext[Any]) -> contents.Content | None:
    """What the caller asks: the argument, or the end of the history it passed on."""
    if ctx.prompt is not None:
        return ctx.prompt
    part = _find_part(ctx.messages)
    return None if part is None else part.content


def _find_part(messages: list[ModelMessage]) -> UserPromptPart | None:
    last = messages[-1] if messages else None
    if not isinstance(last, ModelRequest):
        return None
    return next((one for one in reversed(last.parts) if isinstance(one, UserPromptPart)), None)


def replace_prompt(
    ctx: RunContext[Any], node: UserPromptNode[Any, Any], text: str
) -> UserPromptNode[Any, Any]:
    """The first node of the run with another text in its prompt; the history will have it, too."""
    if node.user_prompt is not None:
        return replace(node, user_prompt=contents.put_text(node.user_prompt, text))
    part, last = _find_part(ctx.messages), ctx.messages[-1]
    if part is not None and isinstance(last, ModelRequest):
        changed = replace(part, content=contents.put_text(part.content, text))
        parts = [changed if one is part else one for one in last.parts]
        ctx.messages[-1] = replace(last, parts=parts)
    return node
