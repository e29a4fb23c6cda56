"""One session of a host behind our hooks: each point as the event that it is here."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agent_hooks import AgentContext, InterceptionPoint, Verdict

from amplifier_core import events
from amplifier_core.events.payloads import (
    EndReason,
    PromptCompleteData,
    ProviderRequestData,
    ToolPreData,
)
from amplifier_core.models import ToolResult
from amplifier_core.models.outcome import Outcome
from amplifier_core.operation import KERNEL
from amplifier_core.tool_call import record_denial_contradicted, record_end, start_call
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.opening import Opened
from amplifier_hooks.frameworks.agent_hooks import verdicts
from amplifier_hooks.frameworks.agent_hooks.handing import HOST, note_questions
from amplifier_hooks.frameworks.agent_hooks.messages import read_call, show_reply
from amplifier_hooks.frameworks.agent_hooks.texts import read_text, replace_text

Data = dict[str, Any]

MOST_DENIED = 512
"""Denied calls that are kept in mind: a host may show a result of one."""

_SHOWN = (events.PROMPT_SUBMIT, events.PROVIDER_REQUEST, events.TOOL_PRE)
"""The host shows what comes of these: a request follows a prompt, a reply a request."""


class GuestTurn:
    """Keeps what one session of the host needs between its points."""

    def __init__(self, opened: Opened) -> None:
        self._coordinator = opened.coordinator
        self._context = opened.context
        self._close = opened.close
        self._prompt = ""
        self._requests = 0
        self._lasting: list[Data] = []
        self._started: dict[str, float] = {}
        self._denied: dict[str, Outcome] = {}

    async def close(self, reason: EndReason) -> None:
        """The host's session has ended."""
        await self._coordinator.handovers.conclude("session end", among=_SHOWN)
        await self._close(reason)

    async def start(self, context: AgentContext) -> Verdict:
        """Our session was opened for this: its hooks have let it start."""
        return Verdict.allow()

    async def take_prompt(self, context: AgentContext) -> Verdict:
        """A new turn."""
        given = context["input"]
        prompt = read_text(given["content"])
        await self._coordinator.handovers.conclude("next prompt", among=_SHOWN)
        self._coordinator.reset_turn()
        self._requests = 0
        data: Data = {"prompt": prompt, "metadata": {"role": given.get("role")}}
        verdict, left = await self._judge(events.PROMPT_SUBMIT, data, "prompt")
        self._prompt = str(left)
        return _wrap(verdict, given, {**given, "content": replace_text(given["content"], left)})

    async def send_request(self, context: AgentContext) -> Verdict:
        """A request to a model, with what hooks have added to the conversation since the last."""
        await self._coordinator.handovers.learn_event(events.PROMPT_SUBMIT, "request")
        given, self._requests = context["messages"], self._requests + 1
        self._lasting += self._context.take()
        missing = [one for one in map(_strip, self._lasting) if one not in given]
        data = ProviderRequestData(
            provider=_name_provider(context),
            model=context["model"].get("id"),
            messages=[*given, *missing],
            tools=[str(one.get("name")) for one in context.get("tools") or ()],
            iteration=self._requests,
        )
        with note_questions() as asked:
            outcome = await self._coordinator.open_request(data)
        self._lasting += self._context.take()  # they are in the request already
        if not outcome.allowed:
            return verdicts.deny(outcome)
        left = [_strip(one) for one in (outcome.data or {})["messages"]]
        if asked:
            return await self._hand_on(
                events.PROVIDER_REQUEST, asked, outcome, is_same(left, given)
            )
        return verdicts.permit(given, left, outcome.answers)

    async def read_reply(self, context: AgentContext) -> Verdict:
        """What a model replied."""
        await self._coordinator.handovers.learn_event(events.PROVIDER_REQUEST, "reply")
        given = context["response"]
        response: Data = {
            "content": [{"type": "text", "text": read_text(given["content"])}],
            "tool_calls": [read_call(one) for one in given["tool_calls"]],
            "finish_reason": given["finish_reason"],
        }
        data: Data = {
            "provider": _name_provider(context),
            "model": context["model"].get("id"),
            "response": response,
            "usage": dict(context.get("usage") or {}),
            "duration_ms": 0,
        }
        verdict, left = await self._judge(events.PROVIDER_RESPONSE, data, "response")
        before, shown = show_reply(response), show_reply(left)
        changed = {key: one for key, one in shown.items() if one != before[key]}
        if "content" in changed:
            changed["content"] = replace_text(given["content"], changed["content"] or "")
        return _wrap(verdict, given, {**given, **changed})

    async def call_tool(self, context: AgentContext) -> Verdict:
        """A tool is about to run."""
        call = context["tool_call"]
        data = ToolPreData(tool_name=call["name"], tool_input=call["args"], tool_call_id=call["id"])
        with note_questions() as asked:
            outcome = await self._coordinator.judge(events.TOOL_PRE, data)
        left = outcome.data or {}
        if outcome.allowed and left.get("tool_name") != call["name"]:
            outcome = await self._coordinator.deny(
                events.TOOL_PRE, "agent-hooks", "a hook chose another tool; the host cannot do that"
            )
        if not outcome.allowed:
            return self._deny_call(call["id"], outcome)
        if asked:
            unchanged = is_same(left.get("tool_input"), call["args"])
            return await self._hand_on(events.TOOL_PRE, asked, outcome, unchanged, call["id"])
        why = await start_call(self._coordinator, outcome, left, same_tool=True)
        if why is not None:
            refused = Outcome(False, hook="agent-hooks", reason=why)
            return self._deny_call(call["id"], refused)
        self._started[call["id"]] = time.perf_counter()
        return verdicts.permit(call["args"], left["tool_input"], outcome.answers)

    async def read_result(self, context: AgentContext) -> Verdict:
        """A tool has returned."""
        call, given = context["tool_call"], context["tool_result"]
        value, success = given["value"], not given["is_error"]
        result = {"success": success, "output": value, "error": None}
        data: Data = {
            "tool_name": call["name"],
            "tool_input": call["args"],
            "tool_call_id": call["id"],
            "tool_result": result,
            "success": success,
            "duration_ms": int(given.get("duration_ms") or 0),
        }
        await self._coordinator.handovers.learn(call["id"], "allowed", "result")
        self._compare_with_denial(call, success)
        started = self._started.pop(call["id"], time.perf_counter())
        told = ToolResult(success=success, output=value)
        record_end(self._coordinator, data, started, "returned", told)
        verdict, left = await self._judge(events.TOOL_POST, data, "tool_result")
        return _wrap(verdict, value, left["output"])

    async def hand_over(self, context: AgentContext) -> Verdict:
        """The answer is about to go out."""
        given = context["output"]
        text = read_text(given["content"])
        data: Data = {"prompt": self._prompt, "response": text, "streamed": False}
        verdict, left = await self._judge(events.PROMPT_ANSWER, data, "response")
        if verdict.decision.permits:
            complete = PromptCompleteData(prompt=self._prompt, response=left)
            await self._coordinator.notify(events.PROMPT_COMPLETE, complete)
        return _wrap(verdict, given, {**given, "content": replace_text(given["content"], left)})

    async def _judge(self, event: str, data: Data, key: str) -> tuple[Verdict, Any]:
        """The verdict without a change yet, and what the hooks left of one field."""
        judge: Any = self._coordinator.judge
        with note_questions() as asked:
            outcome: Outcome = await judge(event, data)
        given = data[key]
        if not outcome.allowed:
            return verdicts.deny(outcome), given
        left = (outcome.data or {}).get(key)
        if type(left) is not type(given):
            why = f"a hook left no usable {key}: {type(left).__name__}"
            return verdicts.deny(await self._coordinator.deny(event, KERNEL, why)), given
        if asked:
            return await self._hand_on(event, asked, outcome, is_same(left, given)), given
        return verdicts.permit(None, None, outcome.answers), left

    async def _hand_on(
        self, event: str, asked: Any, outcome: Outcome, unchanged: bool, call_id: str = ""
    ) -> Verdict:
        """The questions for the host's resolver: it can lift a denial of what it shows."""
        if unchanged:
            return verdicts.ask(asked, outcome.answers)
        await self._coordinator.handovers.withdraw(event, call_id)
        refused = Outcome(False, hook=asked[0].hook, reason=verdicts.CHANGED_AND_ASKED)
        if call_id:
            self._keep_denied(call_id, refused)
        return Verdict.deny(
            reason=verdicts.name_reason(asked[0].hook), message=verdicts.CHANGED_AND_ASKED
        )

    # Calls that were denied

    def _deny_call(self, call_id: str, outcome: Outcome) -> Verdict:
        self._keep_denied(call_id, outcome)
        return verdicts.deny(outcome)

    def _keep_denied(self, call_id: str, outcome: Outcome) -> None:
        self._denied[call_id] = outcome
        if len(self._denied) > MOST_DENIED:
            del self._denied[next(iter(self._denied))]

    def _compare_with_denial(self, call: Mapping[str, Any], success: bool) -> None:
        """Record that the host shows a result of a call that was denied."""
        denied = self._denied.pop(call["id"], None)
        if denied is None:
            return
        body = {
            "tool": call["name"],
            "id": call["id"],
            "input": dict(call["args"]),
            "agent": HOST,
            "reason": denied.denial,
            "shown": "result",
            "success": success,
        }
        record_denial_contradicted(self._coordinator, events.TOOL_POST, denied.hook, body)


def _wrap(verdict: Verdict, before: Any, left: Any) -> Verdict:
    """The verdict with the change, if it permits one."""
    if not verdict.decision.permits or is_same(left, before):
        return verdict
    path, value = verdicts.find_change(before, left)
    return verdicts.transform(path, value, verdict.warnings)


def _strip(message: Mapping[str, Any]) -> Data:
    """A message without what only our sessions keep of it."""
    return {key: one for key, one in message.items() if key not in ("metadata", "timestamp")}


def _name_provider(context: AgentContext) -> str:
    return str(context["model"].get("vendor") or context["agent"]["framework"])


JUDGES: dict[InterceptionPoint, Callable[[GuestTurn, AgentContext], Awaitable[Verdict]]] = {
    InterceptionPoint.AGENT_STARTUP: GuestTurn.start,
    InterceptionPoint.INPUT: GuestTurn.take_prompt,
    InterceptionPoint.PRE_MODEL_CALL: GuestTurn.send_request,
    InterceptionPoint.POST_MODEL_CALL: GuestTurn.read_reply,
    InterceptionPoint.PRE_TOOL_CALL: GuestTurn.call_tool,
    InterceptionPoint.POST_TOOL_CALL: GuestTurn.read_result,
    InterceptionPoint.OUTPUT: GuestTurn.hand_over,
}
"""What is asked of our hooks at each point but the last."""
