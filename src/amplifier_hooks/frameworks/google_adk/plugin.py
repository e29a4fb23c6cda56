"""The plugin that puts hooks in front of every agent of a runner."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_core.utils import describe_error
from amplifier_hooks.coverage import GOOGLE_ADK, Asking
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.google_adk.invocations import Invocation, Invocations
from amplifier_hooks.frameworks.google_adk.messages import (
    change_answer,
    change_reply,
    change_request,
    make_content,
    make_plain,
    read_answer,
    read_reply,
    read_request,
    read_text,
    read_tool_names,
    replace_text,
    write_refusal,
)
from amplifier_hooks.frameworks.google_adk.tools import has_run, take_hold
from amplifier_hooks.frameworks.governing import Governable, govern

PROVIDER = GOOGLE_ADK.name
WITHHELD = "[A hook has withheld this message.]"
NO_RUN = "the hooks of this invocation have ended, so nothing more is run in it"


class AmplifierPlugin(BasePlugin):
    """Takes everything that the agents of a runner do through the hooks; put it first.

    `hooks`: the path of a bundle, a HookRegistry, a coordinator or what `govern` made.
    `asks`: "inline" has people asked as the hooks' bundle says while the call waits;
    "interrupt" has the framework ask for a tool confirmation and end the turn.
    """

    def __init__(
        self, hooks: Governable, *, asks: Asking = "inline", name: str = "amplifier"
    ) -> None:
        super().__init__(name)
        if asks not in GOOGLE_ADK.asking:
            raise ValueError(f"asks={asks!r}: choose one of {', '.join(GOOGLE_ADK.asking)}")
        self.governor = govern(hooks)
        self._interrupts = asks == "interrupt"
        self._invocations = Invocations()

    # Turns

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Open the run behind the invocation, and take the prompt through the hooks."""
        verdict = await self._begin(invocation_context, user_message)
        if not verdict.allowed:
            # Not even the next turn may send it to the model.
            return make_content("user", WITHHELD)
        return replace_text(user_message, verdict.text) if verdict.changed else None

    async def before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> types.Content | None:
        """End the run with the reason if its start or its prompt was refused."""
        invocation = self._invocations.find(invocation_context.invocation_id)
        if invocation is None:
            invocation = await self._begin_late(invocation_context)
        return make_content("model", invocation.refusal) if invocation.refusal else None

    async def _begin(
        self, context: InvocationContext, message: types.Content | None
    ) -> TextVerdict:
        """Open a run; a message that only brings results of tools or people is no prompt."""
        parts = (message.parts if message else None) or []
        agent = context.agent.name if context.agent else ""
        if message is None or any(part.function_response for part in parts):
            try:
                run, verdict = await self.governor.open(GOOGLE_ADK, agent), TextVerdict(True, "")
            except SessionDenied as error:
                run, verdict = None, TextVerdict(False, str(error))
        else:
            run, verdict = await self.governor.begin(GOOGLE_ADK, read_text(parts), agent)
        refusal = "" if verdict.allowed else verdict.text
        made = self._invocations.add(context, run, refusal)
        made.interrupts = self._interrupts
        return verdict

    async def _begin_late(self, context: InvocationContext) -> Invocation:
        """Begin a run whose message another plugin has kept from us: we cannot change it now."""
        verdict = await self._begin(context, context.user_content)
        invocation = self._invocations.find(context.invocation_id)
        assert invocation is not None
        if verdict.changed and invocation.run is not None:
            why = f"a plugin before {self.name} has changed the prompt: put {self.name} first"
            outcome = await invocation.run.coordinator.deny(
                events.PROMPT_SUBMIT, self.name, f"a hook wants to change the prompt, but {why}"
            )
            invocation.refusal = outcome.denial
        return invocation

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Take an answer through the hooks before it is stored and handed over."""
        invocation = self._invocations.find(invocation_context.invocation_id)
        if invocation is None or invocation.run is None or invocation.refusal:
            return None
        if event.partial:
            invocation.streams = True
        text = read_answer(event)
        if not text:
            return None
        verdict = await invocation.run.answer(text, streamed=invocation.streams)
        if verdict.allowed and not verdict.changed:
            return None
        return change_answer(event, text, verdict.text)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """End the run behind the invocation."""
        # ADK calls this as well while a stream that nobody reads any more is being closed.
        stopped = isinstance(sys.exc_info()[1], GeneratorExit | asyncio.CancelledError)
        reason: EndReason = "user_exit" if stopped else "complete"
        await self._invocations.end(invocation_context.invocation_id, reason)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """End the run behind an invocation that failed."""
        await self._invocations.end(invocation_context.invocation_id, "error")

    async def close(self) -> None:
        """End what is still open; other runners may go on with the same hooks."""
        await self._invocations.end_all("error")

    # Models

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Take a request to a model through the hooks; the reply to a refused one is the reason."""
        invocation = self._invocations.find(callback_context.invocation_id)
        if invocation is None or invocation.run is None:
            return write_refusal(NO_RUN)
        invocation.start_request(callback_context.agent_name)
        pieces = read_request(llm_request, in_full=invocation.run.hears(events.PROVIDER_REQUEST))
        verdict = await invocation.run.request(
            [piece.message for piece in pieces],
            provider=PROVIDER,
            model=llm_request.model,
            tools=read_tool_names(llm_request),
        )
        if not verdict.allowed:
            return write_refusal(verdict.reason)
        if verdict.changed:
            change_request(llm_request, pieces, verdict.placed)
        return None

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Take a whole reply through the hooks; pieces of a stream have gone out already."""
        invocation = self._invocations.find(callback_context.invocation_id)
        if invocation is None or invocation.run is None:
            return write_refusal(NO_RUN)
        if llm_response.partial or not invocation.run.hears(events.PROVIDER_RESPONSE):
            return None
        spent = invocation.measure_request(callback_context.agent_name)
        verdict = await invocation.run.review(read_reply(llm_response, spent), provider=PROVIDER)
        if not verdict.allowed:
            return write_refusal(verdict.reason)
        return change_reply(llm_response, verdict) if verdict.changed else None

    # Tools

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Have the call judged where the tool itself is run."""
        invocation = self._invocations.find(tool_context.invocation_id)
        if invocation is None or invocation.run is None:
            return {"error": NO_RUN}
        why = take_hold(tool, tool_context, invocation)
        return None if why is None else {"error": why}

    async def on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
        error: Exception,
    ) -> dict[str, Any] | None:
        """Tell hooks of a call that never came to its tool, such as one of a tool nobody has."""
        invocation = self._invocations.find(tool_context.invocation_id)
        if invocation is None or invocation.run is None or has_run(tool_context):
            return None
        data = {
            "tool_name": tool.name,
            "tool_input": make_plain(tool_args),
            "tool_call_id": tool_context.function_call_id or "",
            "error": {"type": type(error).__name__, "message": describe_error(error)},
        }
        await invocation.run.tell(events.TOOL_ERROR, data)
        return None
