"""Hooks that do one thing each."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, no-any-return"

from __future__ import annotations

from typing import Any

from amplifier_core.models import HookResult

Data = dict[str, Any]
PRE = "tool:pre"
POST = "tool:post"


def says(action: str = "continue", **fields: Any) -> Any:
    """A hook that always gives one answer."""
    answer = HookResult(action=action, **fields)

    async def hook(event: str, data: Data) -> HookResult:
        return answer

    return hook


def asks(prompt: str = "Go on?", **fields: Any) -> Any:
    """A hook that always asks a person."""
    return says("ask_user", approval_prompt=prompt, **fields)


def injects(text: str, **fields: Any) -> Any:
    """A hook that always injects one text."""
    return says("inject_context", context_injection=text, **fields)


def raises(error: BaseException) -> Any:
    """A hook that always fails."""

    async def hook(event: str, data: Data) -> HookResult:
        raise error

    return hook


def returns(value: Any) -> Any:
    """A hook that returns something, right or wrong."""

    async def hook(event: str, data: Data) -> Any:
        return value

    return hook


def modifies(**changes: Any) -> Any:
    """A hook that always changes these fields of the data."""

    async def hook(event: str, data: Data) -> HookResult:
        return HookResult(action="modify", data={**data, **changes})

    return hook


def prints(text: str, **fields: Any) -> Any:
    """A hook that prints before it answers."""

    async def hook(event: str, data: Data) -> HookResult:
        print(text)  # noqa: T201
        return HookResult(**fields)

    return hook
