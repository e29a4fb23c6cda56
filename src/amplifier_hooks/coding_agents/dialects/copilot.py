"""Copilot CLI: camelCase, or Claude's form where the event is written like Claude's; in order."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from amplifier_hooks.coding_agents.dialects.answer import (
    combine,
    judge_exit,
    judge_text,
    parse_object,
    report_failure,
)
from amplifier_hooks.coding_agents.dialects.copilot_events import (
    EVENTS,
    INPUT_KEYS,
    OLDER_NAMES,
    TOOL_NAMES,
    build_common,
    build_environment,
    drop_common,
    find_parts,
    read_input,
    write_arguments,
    write_output,
)
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    Dialect,
    Handler,
    Keys,
    NativeEvent,
    Reply,
    build_reply,
    get_text,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_listed, matches_whole
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Decision, Verdict

CLAUDE_NAMES = {"Delegate": "Agent", "Todo": "TodoWrite"}
OTHER_NAMES = {**{theirs: ours for ours, theirs in TOOL_NAMES.items()}, **OLDER_NAMES}
"""What these tools are called where Copilot keeps its own names."""

CAMEL_KEYS = Keys(
    session="sessionId", transcript="transcriptPath", agent="agentId", parent="parentAgentId"
)
_MIXED_KEYS = Keys(session="sessionId", transcript="transcriptPath")
_STAYS_CAMEL = {"permissionRequest": CAMEL_KEYS, "subagentStart": _MIXED_KEYS}
"""Events that Copilot spells in camelCase all the same, the second but for the agents' ids."""

PASCAL_NAMES = {
    "preToolUse": "PreToolUse",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "preMcpToolCall": "PreMcpToolCall",
    "userPromptSubmitted": "UserPromptSubmit",
    "userPromptTransformed": "UserPromptTransformed",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "preCompact": "PreCompact",
    "notification": "Notification",
    "errorOccurred": "ErrorOccurred",
}
_SPELLED = {"toolArgs": "tool_input", "response": "last_assistant_message"}
_CAMEL = {snake: camel for camel, snake in _SPELLED.items()}
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AFTER_LINE = re.compile(r"_([a-z])")


def build_claude_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    told = build_common(call)
    if CLAUDE_EVENTS[call.native].keys is not None:
        return told
    moment = datetime.fromtimestamp(told["timestamp"] / 1000, UTC)
    return {
        "hook_event_name": call.native,
        "session_id": told["sessionId"],
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "cwd": told["cwd"],
    }


def write_snake(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The keys in snake_case, also those of a result; what a tool was given stays as it is."""
    return {
        _SPELLED.get(key) or _INNER_CAPITAL.sub("_", key).lower(): (
            write_snake(value) if key == "toolResult" else value
        )
        for key, value in payload.items()
    }


def read_snake(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The reverse; keys that are in snake_case in either spelling can be found under both."""
    spelled = {
        _CAMEL.get(key) or _AFTER_LINE.sub(lambda found: found[1].upper(), key): (
            read_snake(value) if key == "tool_result" and isinstance(value, Mapping) else value
        )
        for key, value in payload.items()
    }
    return {**payload, **spelled}


def _respell(native: str, row: NativeEvent) -> NativeEvent:
    if native in _STAYS_CAMEL:
        return replace(row, keys=_STAYS_CAMEL[native])
    if not row.occasions:
        return replace(row, read_fields=drop_common)

    def build(call: Call) -> dict[str, Any]:
        told = write_snake(row.build_fields(call))
        named = {"tool_name": CLAUDE_NAMES.get(call.tool, call.tool)}
        return {**told, **named} if row.matched == TOOL else told

    return replace(
        row,
        build_fields=build,
        read_fields=lambda payload: row.read_fields(read_snake(payload)),
    )


CLAUDE_EVENTS: dict[str, NativeEvent] = {
    name: _respell(native, EVENTS[native]) for native, name in PASCAL_NAMES.items()
}


BEFORE_TOOL = frozenset({"preToolUse", "PreToolUse"})
PERMISSION = frozenset({"permissionRequest", "PermissionRequest"})
_AFTER_TOOL = frozenset({"postToolUse", "PostToolUse"})
_BLOCKS_AT_2 = BEFORE_TOOL | PERMISSION
_DECISIONS: dict[str, Decision] = {"allow": "allow", "deny": "deny", "ask": "ask"}
_BLOCKS: dict[str, Decision | None] = {"block": "deny", "allow": None}


# What a hook's reply means


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON at exit 0; at 2 a block where there is something to block."""
    verdict = _judge_exit(handler, reply)
    if verdict is not None:
        return verdict
    printed = _parse(reply.stdout)
    if printed is None:
        return judge_text(handler, reply.stdout)
    return _read_object(handler, call, printed)


def read_claude_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """The same; before a tool the answer may also stand where Claude's hooks put it."""
    printed = _parse(reply.stdout) if call.native in BEFORE_TOOL else None
    specific = (printed or {}).get("hookSpecificOutput")
    verdict = _judge_exit(handler, reply)
    if verdict is not None or printed is None or not isinstance(specific, Mapping):
        return read_reply(handler, call, reply)
    moved = {"modifiedArgs": specific["updatedInput"]} if "updatedInput" in specific else {}
    return _read_object(handler, call, {**printed, **specific, **moved})


def _judge_exit(handler: Handler, reply: Reply) -> Verdict | None:
    """A timeout lets everything go ahead, another failure all but a tool that is to run."""
    if reply.timed_out:
        return report_failure(reply.failure or "", fail_closed=handler.fail_closed)
    closed = handler.fail_closed or (handler.native in _BLOCKS_AT_2 and handler.url is None)
    judged = replace(handler, fail_closed=closed)
    return judge_exit(judged, reply, blocks=handler.native in _BLOCKS_AT_2)


def _parse(text: str) -> dict[str, Any] | None:
    """The object that was printed; half a character anywhere in it makes it none."""
    printed = parse_object(text)
    try:
        json.dumps(printed, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return None
    return printed


def _read_object(handler: Handler, call: Call, printed: Mapping[str, Any]) -> Verdict:
    """What has the right type counts, whatever stands beside it."""
    said, known = _pick_decision(call.native, printed)
    decision = known.get(said) if isinstance(said, str) else None
    if known is _BLOCKS and not get_text(printed, "reason"):
        decision = None  # a block without a reason blocks nothing
    verdict = _build_verdict(call, printed, decision)
    if said is None or (isinstance(said, str) and said in known):
        return verdict
    sentence = f"Hook {handler.label!r} answered with a wrong decision: {said!r:.100}"
    return combine([verdict, report_failure(sentence, fail_closed=handler.fail_closed)])


def _pick_decision(
    native: str, printed: Mapping[str, Any]
) -> tuple[Any, Mapping[str, Decision | None]]:
    """The word that decides at this event, and the words that may stand there."""
    if native in BEFORE_TOOL:
        return printed.get("permissionDecision"), _DECISIONS
    if native in PERMISSION:
        return printed.get("behavior"), _DECISIONS
    return printed.get("decision"), _BLOCKS


def _build_verdict(call: Call, printed: Mapping[str, Any], decision: Decision | None) -> Verdict:
    keys = ("permissionDecisionReason", "message", "reason")
    arguments = printed.get("modifiedArgs")
    prompt = printed.get("modifiedPrompt")
    arguments = {"input": arguments} if isinstance(arguments, str) else arguments
    context = get_text(printed, "additionalContext")
    return Verdict(
        decision=decision,
        reason=next((text for key in keys if (text := get_text(printed, key))), None),
        withhold=call.native in _AFTER_TOOL and decision == "deny",
        tool_input=read_input(call.tool, arguments) if isinstance(arguments, Mapping) else None,
        prompt=prompt if isinstance(prompt, str) else None,
        output=_read_output(printed),
        context=(context,) if context else (),
        quiet=printed.get("suppressOutput") is True,
    )


def _read_output(printed: Mapping[str, Any]) -> Any:
    result = printed.get("modifiedResult", UNCHANGED)
    if not isinstance(result, Mapping) or "textResultForLlm" not in result:
        return UNCHANGED
    return result["textResultForLlm"]


# How to tell Copilot a verdict


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """The fields of the event, at the top: that is where both spellings look for them."""
    context = "\n\n".join(verdict.context) or None
    if incoming.native in BEFORE_TOOL:
        return build_reply(
            {
                "permissionDecision": verdict.decision,
                "permissionDecisionReason": verdict.reason if verdict.decision else None,
                "modifiedArgs": _write_arguments(incoming, verdict),
                "additionalContext": context,
            }
        )
    if incoming.native in PERMISSION:
        message = verdict.reason if verdict.decision == "deny" else None
        return build_reply({"behavior": verdict.decision, "message": message})
    if verdict.decision == "deny":
        # Copilot drops the context of an answer that blocks.
        reason = "\n\n".join((verdict.reason or "", *verdict.context)).strip()
        return build_reply({"decision": "block", "reason": reason})
    return build_reply(
        {
            "modifiedPrompt": verdict.prompt,
            "modifiedResult": _write_result(incoming, verdict),
            "additionalContext": context,
        }
    )


def _write_arguments(incoming: Incoming, verdict: Verdict) -> Any:
    if verdict.tool_input is None:
        return None
    given = incoming.payload.get("toolArgs", incoming.payload.get("tool_input"))
    return write_arguments(given, verdict.tool_input)


def _write_result(incoming: Incoming, verdict: Verdict) -> dict[str, Any] | None:
    if incoming.native not in _AFTER_TOOL or verdict.output is UNCHANGED:
        return None
    kind = "success" if incoming.data.get("success", True) else "failure"
    return {"resultType": kind, "textResultForLlm": write_output(verdict.output)}


CLAUDE_FORM = Dialect(
    name="copilot-claude",
    events=CLAUDE_EVENTS,
    build_common=build_claude_common,
    build_environment=build_environment,
    read_reply=read_claude_reply,
    write_reply=write_reply,
    matches=matches_listed,
    timeout=30.0,
    in_order=True,
    closed=frozenset({"PreToolUse", "PermissionRequest"}),
    tool_names=CLAUDE_NAMES,
    older_names=OTHER_NAMES,
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
)

DIALECT = Dialect(
    name="copilot",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_whole,
    timeout=30.0,
    in_order=True,
    closed=frozenset({"preToolUse", "permissionRequest"}),
    tool_names=TOOL_NAMES,
    older_names=OLDER_NAMES,
    input_keys=INPUT_KEYS,
    keys=CAMEL_KEYS,
    find_parts=find_parts,
    tried="1.0.102",
    variant=CLAUDE_FORM,
)
