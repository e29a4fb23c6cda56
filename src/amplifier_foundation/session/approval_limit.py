"""What a bundle says about approval, laid around the approval system of an application."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout


def limited(system: Any, options: Mapping[str, Any]) -> Any:
    """No system at all when nobody shall be asked; else one that waits no longer than allowed."""
    if system is None or options.get("mode") == "deny":
        return None
    seconds = options.get("timeout")
    if seconds is None:
        return system
    if hasattr(system, "decide"):
        return _ShortDecision(system, float(seconds))
    return _Short(system, float(seconds))


class _Short:
    """Puts questions with a shorter deadline."""

    def __init__(self, system: Any, seconds: float) -> None:
        self._system = system
        self._seconds = seconds

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        """Ask, but not for ever."""
        short = min(timeout, self._seconds)
        asked = self._system.request_approval(prompt, options, short, default)
        return str(await _within(short, asked))


class _ShortDecision(_Short):
    """The same for systems that take the whole question."""

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | str:
        """Ask, but not for ever."""
        short = min(question.timeout, self._seconds)
        asked = self._system.decide(replace(question, timeout=short))
        answer: ApprovalAnswer | str = await _within(short, asked)
        return answer


async def _within(seconds: float, asked: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError as late:
        raise ApprovalTimeout(f"nobody decided within {seconds:g} s") from late
