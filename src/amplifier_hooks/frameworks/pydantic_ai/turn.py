"""One run of an agent: the session of ours behind it, from the prompt to the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_ai import (
    AgentRunError,
    AgentRunResult,
    DeferredToolRequests,
    PendingModelResponse,
    RunContext,
    UserPromptNode,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_core import to_json

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason, Status
from amplifier_core.records import ErrorNoted
from amplifier_hooks.coverage import PYDANTIC_AI
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.pydantic_ai.messages import (
    change_reply,
    find_prompt,
    read_content_text,
    read_reply_text,
    replace_prompt,
    to_json_values,
)


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


def describe_answer(result: AgentRunResult[Any]) -> str | None:
    """The answer as a text, JSON if it is an object; None if the run only pauses."""
    output = result.output
    if isinstance(output, DeferredToolRequests | PendingModelResponse):
        return None
    return output if isinstance(output, str) else to_json(to_json_values(output)).decode()


def restore_answer(
    result: AgentRunResult[Any], verdict: TextVerdict, *, streamed: bool
) -> AgentRunResult[Any]:
    """The result that the caller gets; RunRefused where a reason has no place."""
    if verdict.allowed and not verdict.changed:
        return result
    if not isinstance(result.output, str):
        if not verdict.allowed:
            raise RunRefused(verdict.text)
        return replace(result, output=_parse_answer(result.output, verdict.text))
    _rewrite_history(result, verdict.text)
    if streamed and not verdict.allowed:
        raise RunRefused(verdict.text)  # somebody has read it: a result would look as if not
    return replace(result, output=verdict.text)


def _parse_answer(output: Any, text: str) -> Any:
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
            if read_reply_text(message) == result.output:
                message.parts = change_reply(message, text, None).parts
            return


async def tell_change(run: Run, event: str) -> None:
    """Say that a hook changed what has been streamed already; RunRefused says so of a denial."""
    what = "a reply" if event == events.PROVIDER_RESPONSE else "the answer"
    text = (
        f"a hook changed {what} at {event} after it had been streamed: who reads the stream has "
        "what the model wrote; only the messages and the result of the run are changed, and "
        "run_stream has no other result"
    )
    await run.home.run(_tell(run, event, text))


async def _tell(run: Run, event: str, text: str) -> None:
    body = ErrorNoted(what="streaming", framework=run.coverage.name, error=text)
    run.coordinator.trail.write(body, event=event)
    await run.coordinator.show(text, "warning", "session")


@dataclass(slots=True)
class Delegation:
    """A task that an agent gave to another one."""

    parent: Run
    agent: str
    task: str
    _started: float = field(default_factory=time.monotonic)

    def _describe(self) -> dict[str, Any]:
        return {
            "parent_session_id": self.parent.coordinator.session_id,
            "agent_name": self.agent,
            "task": self.task,
        }

    async def ask(self) -> str | None:
        """Let the hooks of the parent judge it; returns why the sub-agent must not start."""
        outcome = await self.parent.ask(
            events.AGENT_SPAWN, {**self._describe(), "config_override": {}}
        )
        if not outcome.allowed:
            return outcome.denial
        task = (outcome.data or {}).get("task", self.task)
        if not isinstance(task, str):
            return f"a hook left the sub-agent no task: {task!r}; it must be a text"
        self.task = task
        return None

    async def tell(self, text: str, status: Status) -> None:
        """Tell the hooks of the parent how it ended."""
        spent = int((time.monotonic() - self._started) * 1000)
        done = {"result": {"output": text}, "duration_ms": spent, "status": status}
        if not self.parent.has_ended:
            await self.parent.tell(events.AGENT_COMPLETE, {**self._describe(), **done})


def find_delegation(governor: Governor, agent: str, task: str) -> Delegation | None:
    """The task of a run that begins inside a tool call of another one."""
    parent = inside.get()
    if not isinstance(parent, Run) or parent.governor is not governor or parent.has_ended:
        return None
    return Delegation(parent, agent, task)


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
        given = find_prompt(ctx)
        text = read_content_text(given)
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
        text = self._prompt
        self._prompt = None
        return replace_prompt(ctx, node, text)

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
        text = describe_answer(result)
        if text is None:
            return result
        run = self.use()
        verdict = await run.answer(text, streamed=self.streamed)
        self._answer = verdict.text
        if self.streamed and verdict.changed:
            await tell_change(run, events.PROMPT_ANSWER)
        return restore_answer(result, verdict, streamed=self.streamed)

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
