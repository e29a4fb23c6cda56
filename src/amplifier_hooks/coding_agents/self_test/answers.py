"""The lines about answers: each thing that a hook can want, and whether the agent does it."""

from __future__ import annotations

import json
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.claude.shapes import has_shape
from amplifier_hooks.coding_agents.self_test import hook
from amplifier_hooks.coding_agents.self_test.finding import Finding
from amplifier_hooks.coding_agents.self_test.host import Answer, Event
from amplifier_hooks.coding_agents.self_test.marker import write_command
from amplifier_hooks.coding_agents.self_test.scene import RESULT, Scene, describe
from amplifier_hooks.external.verdicts import UNCHANGED

_MCP_ONLY = {"cursor": "results of MCP servers only; those of its own tools it has shown already"}
_TAKE_TEXT = (events.TOOL_PRE, events.TOOL_POST, events.PROMPT_SUBMIT)


def deny_call(scene: Scene, name: str) -> Finding:
    """A tool call that a hook denies must not run, for the reason that the hook gave."""
    if not scene.can(events.TOOL_PRE, "deny"):
        return Finding(name, "cannot", f"{scene.title} asks nobody before a tool")
    answer = scene.host.call(scene.make_call("deny"))
    works = answer.blocks and hook.REASON in (answer.verdict.reason or "")
    return scene.judge(name, "deny", answer, works=works, how="the model is told the reason")


def deny_prompt(scene: Scene, name: str) -> Finding:
    """A prompt that a hook denies must not reach the model."""
    if not scene.can(events.PROMPT_SUBMIT, "deny"):
        return Finding(name, "cannot", f"{scene.title} shows prompts to nobody before it uses them")
    event = scene.make_prompt("prompt")
    answer = scene.host.call(event)
    works = answer.blocks and hook.REASON in (answer.verdict.reason or "")
    return scene.judge(name, "prompt", answer, works=works, how=f"at {event.entry.native}")


def rewrite_call(scene: Scene, name: str) -> Finding:
    """What runs must be what a hook made of the call."""
    if not scene.can(events.TOOL_PRE, "rewrite"):
        return Finding(name, "cannot", f"{scene.title} takes no changed input")
    event = scene.make_call("rewrite")
    answer = scene.host.call(event)
    runs = event.call.input if answer.verdict.tool_input is None else answer.verdict.tool_input
    wanted = write_command("rewritten")
    works = not answer.blocks and runs == {"command": wanted}
    how = f"asked {write_command('rewrite')!r}, runs {wanted!r}"
    if works or answer.blocks:
        return scene.judge(name, "rewrite", answer, works=works, how=how)
    shown = json.dumps(runs, default=str)[:200]
    return Finding(name, "broken", f"this runs: {shown}")


def inject_text(scene: Scene, name: str) -> Finding:
    """A text must reach the model: with this event, or with the next one that can carry it."""
    carrier = next((one for one in _TAKE_TEXT if scene.can(one, "inject")), None)
    if carrier is None:
        return Finding(name, "cannot", f"{scene.title} takes no text for its model from hooks")
    event = scene.make_call("inject")
    answer = scene.host.call(event)
    if carrier != events.TOOL_PRE and not answer.blocks:
        event = _make_carrier(scene, carrier, event)
        answer = scene.host.call(event)
    works = any(hook.INJECTED in text for text in answer.verdict.context)
    return scene.judge(name, "inject", answer, works=works, how=f"with {event.entry.native}")


def _make_carrier(scene: Scene, carrier: str, asked: Event) -> Event:
    if carrier == events.PROMPT_SUBMIT:
        return scene.make_prompt("carry")
    given, call_id = asked.call.input, asked.call.tool_call_id
    return scene.make_result("carry", tool_input=given, tool_call_id=call_id)


def ask_person(scene: Scene, name: str) -> Finding:
    """Where a hook wants somebody asked, somebody must be."""
    event = scene.make_call("ask")
    answer = scene.host.call(event)
    verdict = answer.verdict
    if verdict.decision == "ask" and hook.QUESTION in (verdict.reason or ""):
        return Finding(name, "ok", f"{scene.title} asks its person")
    decided = scene.ticket.list_reports("decided")
    by = str(decided[0]["by"]) if decided else ""
    if scene.ticket.list_reports("handed-over"):
        lost = f"the question was handed over, and {scene.title} does not read one"
        return Finding(name, "broken", f"{lost}: {describe(answer)}")
    if decided and decided[0]["how"] in ("person", "rule", "cache"):
        return Finding(name, "ok", f"your bundle has it answered by {by}")
    waited = f"asked elsewhere (amplifier approvals); no answer in {scene.seconds:g} s is a no"
    works = answer.blocks and bool(scene.ticket.list_reports("ask-elsewhere"))
    if works or not decided:
        return scene.judge(name, "ask", answer, works=works, how=waited)
    return Finding(name, "broken", f"nobody could be asked: {describe(answer)}")


def replace_result(scene: Scene, name: str) -> Finding:
    """The model must read what a hook made of a result, and not the result."""
    if not scene.can(events.TOOL_POST, "replace"):
        return Finding(name, "cannot", f"{scene.title} has used a result before it tells of it")
    limited = _MCP_ONLY.get(scene.host.dialect.name, "")
    event = scene.make_result("replace", "mcp__check__echo" if limited else "Bash")
    answer = scene.host.call(event)
    shown = _read_shown(scene, event, answer)
    works = hook.REPLACED in shown and RESULT not in shown
    if works or answer.blocks:
        how = limited or f"with {event.entry.native}"
        return scene.judge(name, "replace", answer, works=works, how=how)
    return Finding(name, "broken", f"the model reads: {shown[:200]}; {answer.describe()}")


def _read_shown(scene: Scene, event: Event, answer: Answer) -> str:
    """What the model gets to read."""
    verdict = answer.verdict
    if verdict.withhold and verdict.decision == "deny":
        return verdict.reason or ""
    if verdict.output is UNCHANGED or not _is_taken(scene, event, verdict.output):
        return RESULT
    return json.dumps(verdict.output, default=str)


def _is_taken(scene: Scene, event: Event, output: Any) -> bool:
    """Claude Code drops a result that has not the shape of that tool's results."""
    if scene.host.dialect.name != "claude":
        return True
    shape = json.loads(scene.host.build_payload(event)).get("tool_response")
    return has_shape(shape, output)
