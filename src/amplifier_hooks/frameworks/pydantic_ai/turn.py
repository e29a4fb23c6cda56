"""One run of an agent: the session of ours behind it, from the prompt to the answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic_ai import AgentRunResult, RunContext, UserPromptNode

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.events.payloads import EndReason, Status
from amplifier_hooks.coverage import PYDANTIC_AI
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.pydantic_ai.delegation import Delegation, find_delegation
from amplifier_hooks.frameworks.pydantic_ai.refusal import RunRefused
from amplifier_hooks.frameworks.pydantic_ai.streaming import tell_change
from amplifier_hooks.frameworks.pydantic_ai.translation import answers, contents, prompts


@dataclass(slots=True)
class Turn:
    """What is known of a run while it goes on."""

    governor: Governor
    is_covered: bool = False
    """Whether another instance has the same hooks in front of this run, so that this one rests."""
    streamed: bool = False
    """Whether the caller reads replies while the model writes them."""
    _run: Run | None = None
    _refusal: str | None = "hooks have not judged this run yet"
    _is_over: bool = False
    _prompt: str | None = None
    """What hooks made of the prompt, until the framework has taken it."""
    _delegation: Delegation | None = None
    _answer: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether the framework still waits for what is done for it."""
        return self._run is not None and not self._is_over and not self._run.has_ended

    def use(self) -> Run:
        """The run that everything has to pass; RunRefused where there is none."""
        if self._run is None or self._refusal is not None:
            raise RunRefused(self._refusal or "there is no session behind this run")
        if not self.is_alive:
            raise RunRefused("the run has ended, so nothing is done for it any more")
        return self._run

    # From the prompt

    async def begin(self, ctx: RunContext[Any]) -> str | None:
        """Open the session and submit the prompt; returns why the run must not go on."""
        name = (ctx.agent.name if ctx.agent is not None else None) or "agent"
        given = prompts.find_prompt(ctx)
        text = contents.read_text(given)
        refusal = await self._ask_parent(name, text)
        if refusal is None:
            refusal = await self._open(name, None if given is None else text)
        self._refusal = refusal
        return refusal

    async def _ask_parent(self, name: str, text: str) -> str | None:
        delegation = find_delegation(self.governor, name, text)
        refusal = None if delegation is None else await delegation.ask()
        if refusal is None:
            self._delegation = delegation
        return refusal

    async def _open(self, name: str, text: str | None) -> str | None:
        """Open the session and submit a prompt, if there is a new one."""
        try:
            self._run = await self.governor.open(PYDANTIC_AI, name)
        except SessionDenied as error:
            return str(error)
        if text is None:
            return None
        task = text if self._delegation is None else self._delegation.task
        verdict = await self._run.submit(task)
        if verdict.allowed and verdict.text != text:
            self._prompt = verdict.text
        return None if verdict.allowed else verdict.text

    def change_prompt(
        self, ctx: RunContext[Any], node: UserPromptNode[Any, Any]
    ) -> UserPromptNode[Any, Any]:
        """The first node of the run with the prompt that hooks left."""
        if self._prompt is None:
            return node
        text, self._prompt = self._prompt, None
        return prompts.replace_prompt(ctx, node, text)

    def check_prompt(self) -> None:
        """RunRefused if the framework goes on without what hooks made of the prompt."""
        if self._prompt is not None:
            raise RunRefused(
                "a hook changed the prompt, but the first node of the run was run without its "
                "hooks: use agent_run.next(node) or iterate over the run"
            )

    # To the answer

    async def answer(self, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Let hooks judge the answer before the caller gets it."""
        text = answers.describe(result)
        if text is None:
            return result
        run = self.use()
        verdict = await run.answer(text, streamed=self.streamed)
        self._answer = verdict.text
        if self.streamed and verdict.changed:
            await tell_change(run, events.PROMPT_ANSWER)
        return answers.restore(result, verdict, streamed=self.streamed)

    async def end(self, reason: EndReason) -> None:
        """End the session, also where whoever waits for the run is being cancelled."""
        self._is_over = True
        await asyncio.shield(asyncio.ensure_future(self._end(reason)))

    async def _end(self, reason: EndReason) -> None:
        if self._run is not None:
            await self._run.end(reason)
        if self._delegation is not None:
            status: Status = "success" if reason == "complete" else "error"
            await self._delegation.tell(self._answer, status)


def read_cancellation(ctx: RunContext[Any]) -> EndReason:
    """Why a run was cancelled: its time is over, or somebody stopped it."""
    is_late = ctx.deadline is not None and datetime.now(UTC) >= ctx.deadline
    return "timeout" if is_late else "user_exit"
