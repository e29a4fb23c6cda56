"""The lines about answers: each thing that a hook can want, and whether the agent does it."""

from __future__ import annotations

import json
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.claude.answers import has_shape
from amplifier_hooks.coding_agents.self_test import hook
from amplifier_hooks.coding_agents.self_test.context import RESULT, CheckContext, Finding, describe
from amplifier_hooks.coding_agents.self_test.hook import write_command
from amplifier_hooks.coding_agents.self_test.host import Answer, Event
from amplifier_hooks.external.verdicts import UNCHANGED

_MCP_ONLY = {"cursor": "results of MCP servers only; those of its own tools it has shown already"}
_TAKE_TEXT = (events.TOOL_PRE, events.TOOL_POST, events.PROMPT_SUBMIT)


def deny_call(context: CheckContext, name: str) -> Finding:
    """A tool call that a hook denies must not run, for the reason that the hook gave."""
    if not context.can(events.TOOL_PRE, "deny"):
        return Finding(name, "cannot", f"{context.title} asks nobody before a tool")
    answer = context.host.call(context.make_call("deny"))
    works = answer.blocks and hook.REASON in (answer.verdict.reason or "")
    return context.judge(name, "deny", answer, works=works, how="the model is told the reason")


def deny_prompt(context: CheckContext, name: str) -> Finding:
    """A prompt that a hook denies must not reach the model."""
    if not context.can(events.PROMPT_SUBMIT, "deny"):
        return Finding(
            name, "cannot", f"{context.title} shows prompts to nobody before it uses them"
        )
    event = context.make_prompt("prompt")
    answer = context.host.call(event)
    works = answer.blocks and hook.REASON in (answer.verdict.reason or "")
    return context.judge(name, "prompt", answer, works=works, how=f"at {event.entry.native}")


def rewrite_call(context: CheckContext, name: str) -> Finding:
    """What runs must be what a hook made of the call."""
    if not context.can(events.TOOL_PRE, "rewrite"):
        return Finding(name, "cannot", f"{context.title} takes no changed input")
    event = context.make_call("rewrite")
    answer = context.host.call(event)
    runs = event.call.input if answer.verdict.tool_input is None else answer.verdict.tool_input
    wanted = write_command("rewritten")
    works = not answer.blocks and runs == {"command": wanted}
    how = f"asked {write_command('rewrite')!r}, runs {wanted!r}"
    if works or answer.blocks:
        return context.judge(name, "rewrite", answer, works=works, how=how)
    shown = json.dumps(runs, default=str)[:200]
    return Finding(name, "broken", f"this runs: {shown}")


def inject_text(context: CheckContext, name: str) -> Finding:
    """A text must reach the model: with this event, or with the next one that can carry it."""
    carrier = next((one for one in _TAKE_TEXT if context.can(one, "inject")), None)
    if carrier is None:
        return Finding(name, "cannot", f"{context.title} takes no text for its model from hooks")
    event = context.make_call("inject")
    answer = context.host.call(event)
    if carrier != events.TOOL_PRE and not answer.blocks:
        event = _make_carrier(context, carrier, event)
        answer = context.host.call(event)
    works = any(hook.INJECTED in text for text in answer.verdict.context)
    return context.judge(name, "inject", answer, works=works, how=f"with {event.entry.native}")


def _make_carrier(context: CheckContext, carrier: str, asked: Event) -> Event:
    if carrier == events.PROMPT_SUBMIT:
        return context.make_prompt("carry")
    given = asked.call.input
    call_id = asked.call.tool_call_id
    return context.make_result("carry", tool_input=given, tool_call_id=call_id)


def ask_person(context: CheckContext, name: str) -> Finding:
    """Where a hook wants somebody asked, somebody must be."""
    event = context.make_call("ask")
    answer = context.host.call(event)
    verdict = answer.verdict
    if verdict.decision == "ask" and hook.QUESTION in (verdict.reason or ""):
        return Finding(name, "ok", f"{context.title} asks its person")
    decided = context.ticket.list_reports("decided")
    by = str(decided[0]["by"]) if decided else ""
    if context.ticket.list_reports("handed-over"):
        lost = f"the question was handed over, and {context.title} does not read one"
        return Finding(name, "broken", f"{lost}: {describe(answer)}")
    if decided and decided[0]["how"] in ("person", "rule", "cache"):
        return Finding(name, "ok", f"your bundle has it answered by {by}")
    waited = f"asked elsewhere (amplifier approvals); no answer in {context.seconds:g} s is a no"
    works = answer.blocks and bool(context.ticket.list_reports("ask-elsewhere"))
    if works or not decided:
        return context.judge(name, "ask", answer, works=works, how=waited)
    return Finding(name, "broken", f"nobody could be asked: {describe(answer)}")


def replace_result(context: CheckContext, name: str) -> Finding:
    """The model must read what a hook made of a result, and not the result."""
    if not context.can(events.TOOL_POST, "replace"):
        return Finding(name, "cannot", f"{context.title} has used a result before it tells of it")
    limited = _MCP_ONLY.get(context.host.dialect.name, "")
    event = context.make_result("replace", "mcp__check__echo" if limited else "Bash")
    answer = context.host.call(event)
    shown = _read_shown(context, event, answer)
    works = hook.REPLACED in shown and RESULT not in shown
    if works or answer.blocks:
        how = limited or f"with {event.entry.native}"
        return context.judge(name, "replace", answer, works=works, how=how)
    return Finding(name, "broken", f"the model reads: {shown[:200]}; {answer.describe()}")


def _read_shown(context: CheckContext, event: Event, answer: Answer) -> str:
    """What the model gets to read."""
    verdict = answer.verdict
    if verdict.withhold and verdict.decision == "deny":
        return verdict.reason or ""
    if verdict.output is UNCHANGED or not _is_taken(context, event, verdict.output):
        return RESULT
    return json.dumps(verdict.output, default=str)


def _is_taken(context: CheckContext, event: Event, output: Any) -> bool:
    """Claude Code drops a result that has not the shape of that tool's results."""
    if context.host.dialect.name != "claude":
        return True
    shape = json.loads(context.host.build_payload(event)).get("tool_response")
    return has_shape(shape, output)
