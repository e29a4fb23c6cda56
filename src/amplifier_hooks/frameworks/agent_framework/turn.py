"""One governed run of an agent or a client: its hooks, its answer and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from amplifier_core.events.payloads import EndReason
from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.agent_framework.model_hooks import ModelHooks
from amplifier_hooks.frameworks.agent_framework.tool_hooks import ToolHooks


class Turn:
    """Stands behind one run of the framework."""

    def __init__(self, run: Run, asks: Asking) -> None:
        self.run = run
        self._models = ModelHooks(run)
        self._tools = ToolHooks(run, asks)

    def add_to(self, middleware: Any) -> list[Any]:
        """The middleware of a run with ours behind all others: hooks judge what they have left."""
        if middleware is None:
            others: list[Any] = []
        else:
            others = list(middleware) if isinstance(middleware, list | tuple) else [middleware]
        return [*others, self._tools, self._models]

    async def complete(self, response: Any, *, streamed: bool = False) -> str | None:
        """Take the answer through the hooks if it came without a last reply of a model.

        Returns what the caller gets instead, if it is something else. While the framework waits
        for somebody, there is no answer yet.
        """
        if self._models.has_answered or is_waiting(response):
            return None
        verdict = await self.run.answer(response.text, streamed=streamed)
        return None if verdict.text == response.text else verdict.text

    async def end(self, error: BaseException | None = None) -> None:
        """The run is over."""
        await self.run.end(name_end(error))


def is_waiting(response: Any) -> bool:
    """Whether a response asks the caller for something before the turn can go on."""
    return response is None or any(
        one.user_input_request for message in response.messages for one in message.contents
    )


def name_end(error: BaseException | None) -> EndReason:
    """Why a run has ended."""
    if error is None:
        return "complete"
    if isinstance(error, asyncio.CancelledError | GeneratorExit | KeyboardInterrupt):
        return "user_exit"
    return "timeout" if isinstance(error, TimeoutError) else "error"


def is_governed(middleware: Any, governor: Governor) -> bool:
    """Whether a run has the hooks of a governor already."""
    found = middleware if isinstance(middleware, list | tuple) else ()
    ours = [one for one in found if isinstance(one, ToolHooks)]
    return any(one.run.governor is governor for one in ours)


def put_last(middleware: Sequence[Any]) -> list[Any]:
    """The middleware of a run, with ours behind what was added after it."""
    ours = [one for one in middleware if isinstance(one, ToolHooks | ModelHooks)]
    return [*(one for one in middleware if one not in ours), *ours]
