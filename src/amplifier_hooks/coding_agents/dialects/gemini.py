"""Gemini CLI: its own names of events and tools, milliseconds, groups in parallel or in order."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.answer import combine, judge_text, report_failure
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    Dialect,
    Handler,
    NativeEvent,
    Occasion,
    Reply,
    build_reply,
    get_number,
    get_text,
    read_text,
    rename_keys,
    require_object,
    require_text,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Decision, Verdict

# Its events


TOOL_NAMES = {
    "Bash": "run_shell_command",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
    "Glob": "glob",
    "Grep": "grep_search",
    "LS": "list_directory",
    "Todo": "write_todos",
    "Delegate": "invoke_agent",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
}
INPUT_KEYS = {
    "Read": {"offset": "start_line"},
    "Edit": {"replace_all": "allow_multiple"},
    "Glob": {"path": "dir_path"},
    "Grep": {"path": "dir_path", "glob": "include_pattern"},
    "LS": {"path": "dir_path"},
    "Delegate": {"task": "prompt"},
}
OLDER_NAMES = {"search_file_content": "Grep"}


def build_tool(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A call of a tool of ours, as Gemini tells it."""
    theirs = rename_keys(given, INPUT_KEYS.get(name, {}))
    return {"tool_name": TOOL_NAMES.get(name, name), "tool_input": theirs}


def read_input(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a tool of ours, from what Gemini's has."""
    return rename_keys(given, {theirs: ours for ours, theirs in INPUT_KEYS.get(tool, {}).items()})


def read_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The tool call of a payload; a server's tool by the name that guards are written for."""
    name = require_text(payload, "tool_name")
    server = payload.get("mcp_context")
    if isinstance(server, Mapping):
        parts = (get_text(server, "server_name"), get_text(server, "tool_name"))
        name = "__".join(("mcp", *parts)) if all(parts) else name
    return {"tool_name": name, "tool_input": payload.get("tool_input")}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """A command where it really runs, and each of several files that are read at once."""
    name = incoming.data["tool_name"]
    given = incoming.data["tool_input"]
    if name == "Bash" and (folder := get_text(given, "dir_path")):
        command = f"cd {shlex.quote(folder)} && {get_text(given, 'command')}"
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    if name == "read_many_files" and isinstance(given.get("include"), list):
        paths = (path for path in given["include"] if isinstance(path, str))
        return tuple({"tool_name": "Read", "tool_input": {"file_path": path}} for path in paths)
    return ()


Payload = Mapping[str, Any]

COMMON = frozenset({"session_id", "transcript_path", "cwd", "hook_event_name", "timestamp"})
_ROLES = {"assistant": "model"}
_OUR_ROLES = {theirs: ours for ours, theirs in _ROLES.items()}
_NOTIFICATIONS = {"approval_required": "ToolPermission"}
_OUR_NOTIFICATIONS = {theirs: ours for ours, theirs in _NOTIFICATIONS.items()}
_SOURCES = {"startup": "startup", "resume": "resume"}
_ENDS = {"user_exit": "prompt_input_exit", "error": "other", "timeout": "other", "denied": "other"}
_OUR_ENDS = {"prompt_input_exit": "user_exit", "logout": "user_exit"}


# Every event


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.native,
        "timestamp": str(call.data.get("timestamp") or ""),
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "GEMINI_PROJECT_DIR": call.cwd,
        "GEMINI_SESSION_ID": call.session_id,
        "GEMINI_CWD": call.cwd,
        "CLAUDE_PROJECT_DIR": call.cwd,
    }


def _read_rest(payload: Payload) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in COMMON}


# Tools


def _build_tool(call: Call) -> dict[str, Any]:
    return build_tool(call.tool, call.input)


def _build_tool_result(call: Call) -> dict[str, Any]:
    output = call.response.get("output")
    error = {"type": "execution_failed", "message": call.error}
    failure = {"error": error} if call.error else {}
    response = {"llmContent": output, "returnDisplay": output, **failure}
    return {**_build_tool(call), "tool_response": response}


def _read_tool_result(payload: Payload) -> dict[str, Any]:
    response = require_object(payload, "tool_response")
    error = response.get("error")
    error = error if isinstance(error, Mapping | str) else None
    result = {"success": not error, "output": response.get("llmContent"), "error": error}
    return {
        **read_tool(payload),
        "tool_result": result,
        "success": result["success"],
        "duration_ms": 0,
    }


# Turns


def _build_prompt(call: Call) -> dict[str, Any]:
    return {"prompt": str(call.data.get("prompt", ""))}


def _read_prompt(payload: Payload) -> dict[str, Any]:
    return {"prompt": require_text(payload, "prompt"), "metadata": {}}


def _build_agent_end(call: Call) -> dict[str, Any]:
    return {
        **_build_prompt(call),
        "prompt_response": call.last_message,
        "stop_hook_active": call.blocked_stops > 0,
    }


def _read_agent_end(payload: Payload) -> dict[str, Any]:
    return {
        "orchestrator": "gemini",
        "final_message": {"role": "assistant", "content": get_text(payload, "prompt_response")},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": "success",
    }


# Requests to the model


def build_messages(messages: Any) -> list[dict[str, Any]]:
    """Messages with Gemini's names of the roles."""
    return _rename_roles(messages, _ROLES)


def read_messages(messages: Any) -> list[dict[str, Any]]:
    """Messages with our names of the roles."""
    return _rename_roles(messages, _OUR_ROLES)


def _rename_roles(messages: Any, names: Mapping[str, str]) -> list[dict[str, Any]]:
    listed = messages if isinstance(messages, list) else []
    found = (one for one in listed if isinstance(one, dict))
    return [{**one, "role": names.get(str(one.get("role")), one.get("role"))} for one in found]


def _build_request(call: Call) -> dict[str, Any]:
    messages = build_messages(call.data.get("messages"))
    return {"llm_request": {"model": call.data.get("model"), "messages": messages, "config": {}}}


def _read_request(payload: Payload) -> dict[str, Any]:
    request = require_object(payload, "llm_request")
    return {
        "provider": "gemini",
        "model": get_text(request, "model") or None,
        "messages": read_messages(request.get("messages")),
        "tools": [],
        "iteration": 0,
    }


def _build_response_of_model(call: Call) -> dict[str, Any]:
    text = read_text(call.data.get("response"))
    candidate = {"content": {"role": "model", "parts": [text]}, "index": 0}
    usage = call.data.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    counted = {
        "promptTokenCount": get_number(usage, "input_tokens"),
        "candidatesTokenCount": get_number(usage, "output_tokens"),
        "totalTokenCount": get_number(usage, "total_tokens"),
    }
    response = {"text": text, "candidates": [candidate], "usageMetadata": counted}
    return {**_build_request(call), "llm_response": response}


def _read_response_of_model(payload: Payload) -> dict[str, Any]:
    request = _read_request(payload)
    response = require_object(payload, "llm_response")
    counted = response.get("usageMetadata")
    counted = counted if isinstance(counted, Mapping) else {}
    return {
        "provider": request["provider"],
        "model": request["model"],
        "response": {"role": "assistant", "content": get_text(response, "text")},
        "usage": {
            "input_tokens": get_number(counted, "promptTokenCount"),
            "output_tokens": get_number(counted, "candidatesTokenCount"),
            "total_tokens": get_number(counted, "totalTokenCount"),
        },
        "duration_ms": 0,
    }


# Sessions


def _build_session_start(call: Call) -> dict[str, Any]:
    return {"source": call.data.get("source", "startup")}


def _read_session_start(payload: Payload) -> dict[str, Any]:
    source = _SOURCES.get(get_text(payload, "source"), "startup")
    return {"mount_plan": {}, "source": source}


def _build_session_end(call: Call) -> dict[str, Any]:
    return {"reason": _ENDS.get(str(call.data.get("reason")), "exit")}


def _read_session_end(payload: Payload) -> dict[str, Any]:
    reason = _OUR_ENDS.get(get_text(payload, "reason"), "complete")
    stats = ("total_messages", "tool_invocations", "total_tokens", "hook_failures")
    return {"reason": reason, "duration_ms": 0, "stats": dict.fromkeys(stats, 0)}


def _build_notification(call: Call) -> dict[str, Any]:
    kind = str(call.data.get("notification_type") or "")
    return {
        "notification_type": _NOTIFICATIONS.get(kind, kind),
        "message": str(call.data.get("message") or ""),
        "details": call.data.get("metadata") or {},
    }


def _read_notification(payload: Payload) -> dict[str, Any]:
    details = payload.get("details")
    return {
        "notification_type": _OUR_NOTIFICATIONS.get(
            get_text(payload, "notification_type"), "alert"
        ),
        "message": get_text(payload, "message"),
        "metadata": dict(details) if isinstance(details, Mapping) else {},
    }


def _build_compaction(call: Call) -> dict[str, Any]:
    return {"trigger": call.data.get("trigger")}


def _read_compaction(payload: Payload) -> dict[str, Any]:
    trigger = "manual" if payload.get("trigger") == "manual" else "auto"
    return {"trigger": trigger, "current_tokens": 0, "target_tokens": 0, "messages_count": 0}


EVENTS: dict[str, NativeEvent] = {
    "BeforeTool": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        read_fields=read_tool,
        powers=frozenset({"deny", "rewrite", "stop", "tell"}),
        gate=True,
    ),
    "AfterTool": NativeEvent(
        (Occasion(events.TOOL_POST), Occasion(events.TOOL_ERROR)),
        _build_tool_result,
        TOOL,
        read_fields=_read_tool_result,
        powers=frozenset({"deny", "replace", "inject", "stop", "tell"}),
        gate=True,
    ),
    "BeforeAgent": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        _build_prompt,
        read_fields=_read_prompt,
        powers=frozenset({"deny", "inject", "tell"}),
        gate=True,
    ),
    "AfterAgent": NativeEvent(
        (Occasion(events.ORCHESTRATOR_COMPLETE),),
        _build_agent_end,
        read_fields=_read_agent_end,
        powers=frozenset({"deny", "tell"}),
    ),
    "BeforeModel": NativeEvent(
        (Occasion(events.PROVIDER_REQUEST),),
        _build_request,
        read_fields=_read_request,
        powers=frozenset({"deny", "tell"}),
        noisy=True,  # once per request, with the whole conversation
    ),
    "AfterModel": NativeEvent(
        (Occasion(events.PROVIDER_RESPONSE),),
        _build_response_of_model,
        read_fields=_read_response_of_model,
        powers=frozenset({"tell"}),
        noisy=True,  # once per chunk
    ),
    "BeforeToolSelection": NativeEvent(
        (),
        _build_request,
        read_fields=_read_rest,
        powers=frozenset({"tell"}),
        noisy=True,  # once per request
    ),
    "SessionStart": NativeEvent(
        (Occasion(events.SESSION_START),),
        _build_session_start,
        "source",
        read_fields=_read_session_start,
        powers=frozenset({"inject", "tell"}),
    ),
    "SessionEnd": NativeEvent(
        (Occasion(events.SESSION_END),),
        _build_session_end,
        "reason",
        read_fields=_read_session_end,
        powers=frozenset({"tell"}),
    ),
    "Notification": NativeEvent(
        (Occasion(events.USER_NOTIFICATION),),
        _build_notification,
        "notification_type",
        read_fields=_read_notification,
        powers=frozenset({"tell"}),
    ),
    "PreCompress": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        _build_compaction,
        "trigger",
        read_fields=_read_compaction,
        powers=frozenset({"tell"}),
        noisy=True,  # before every request, whether anything is compressed or not
    ),
}


# Its answers


_DECISIONS: dict[Any, Decision] = {
    "allow": "allow",
    "approve": "allow",
    "deny": "deny",
    "block": "deny",
    "ask": "ask",
}
_TAKES_CONTEXT = frozenset({"AfterTool", "BeforeAgent", "SessionStart"})
_NO_OUTPUT = "(no output)"


# What a hook's reply means


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON whatever the exit code is, or text: a denial above 1, a message for the person at 0."""
    if reply.failure is not None:
        return report_failure(reply.failure, fail_closed=handler.fail_closed)
    text = reply.stdout.strip() or reply.stderr.strip()
    printed = _parse(text)
    if isinstance(printed, Mapping):
        return _read_object(handler, call, printed)
    if reply.code == 0:
        return _read_text(handler, text) if printed is None else NOTHING
    if reply.code > 1 and text and printed is None:
        return Verdict(decision="deny", reason=text, withhold=True)
    line = text.splitlines()[0] if text else "no message"
    sentence = f"Hook {handler.label!r} exited with {reply.code}: {line}"
    return report_failure(sentence, fail_closed=handler.fail_closed)


def _parse(text: str) -> Any:
    """The value that was printed as JSON, or as JSON in a text; None if it is none."""
    try:
        value = json.loads(text)
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _read_text(handler: Handler, text: str) -> Verdict:
    """Text is shown to the person; text that begins like an object is a failed answer."""
    verdict = judge_text(handler, text)
    return Verdict(notes=(text,)) if verdict is NOTHING and text else verdict


def _read_object(handler: Handler, call: Call, printed: Mapping[str, Any]) -> Verdict:
    """Gemini checks no types: what has the right one counts, whatever stands beside it."""
    decision = printed.get("decision")
    known = _DECISIONS.get(decision) if isinstance(decision, str) else None
    verdict = _build_verdict(call, printed, known)
    if decision is None or known is not None:
        return verdict
    sentence = f"Hook {handler.label!r} answered with a wrong 'decision': {decision!r:.100}"
    return combine([verdict, report_failure(sentence, fail_closed=handler.fail_closed)])


def _build_verdict(call: Call, printed: Mapping[str, Any], decision: Decision | None) -> Verdict:
    specific = printed.get("hookSpecificOutput")
    specific = specific if isinstance(specific, Mapping) else {}
    context = get_text(specific, "additionalContext") if call.native in _TAKES_CONTEXT else ""
    note = get_text(printed, "systemMessage")
    ended = get_text(printed, "stopReason") or "A hook ended the run."
    return Verdict(
        decision=decision,
        reason=get_text(printed, "reason") or None,
        withhold=True,
        tool_input=_read_input(call, specific),
        messages=_read_changed_request(specific),
        context=(context,) if context else (),
        notes=(note,) if note else (),
        stop=ended if printed.get("continue") is False else None,
        quiet=printed.get("suppressOutput") is True,
    )


def _read_input(call: Call, specific: Mapping[str, Any]) -> dict[str, Any] | None:
    """The whole new input, with our names of its fields."""
    given = specific.get("tool_input")
    if call.native != "BeforeTool" or not isinstance(given, Mapping):
        return None
    return read_input(call.tool, given)


def _read_changed_request(specific: Mapping[str, Any]) -> list[Any] | None:
    request = specific.get("llm_request")
    messages = request.get("messages") if isinstance(request, Mapping) else None
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return None
    return read_messages(messages)


# How to tell Gemini a verdict


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """Its own object: a decision at the top, changes below `hookSpecificOutput`."""
    reason = _word_refusal(incoming, verdict)
    return build_reply(
        {
            "continue": None if verdict.stop is None else False,
            "stopReason": verdict.stop,
            "decision": None if reason is None else "deny",
            "reason": reason,
            "systemMessage": "\n".join(verdict.notes) or None,
            "hookSpecificOutput": None if reason else _write_changes(incoming, verdict),
        }
    )


def _word_refusal(incoming: Incoming, verdict: Verdict) -> str | None:
    """Why not; after a tool this text is all that the model gets to see of the result."""
    if verdict.decision == "deny":
        shown = verdict.reason
    elif incoming.native == "AfterTool" and verdict.output is not UNCHANGED:
        shown = _word_output(verdict.output)
    else:
        return None
    # Gemini drops the context of an answer that denies.
    return "\n\n".join((shown or "", *verdict.context)).strip() or _NO_OUTPUT


def _word_output(output: Any) -> str:
    """The text of a result: it is one, or parts with texts, or something else."""
    if isinstance(output, list):
        return "\n".join(_word_output(part) for part in output)
    text = output.get("text") if isinstance(output, Mapping) else output
    return text if isinstance(text, str) else json.dumps(output, ensure_ascii=False, default=str)


def _write_changes(incoming: Incoming, verdict: Verdict) -> dict[str, Any] | None:
    changes: dict[str, Any] = {}
    if verdict.tool_input is not None:
        changes["tool_input"] = verdict.tool_input
    if verdict.messages is not None and incoming.native == "BeforeModel":
        request = incoming.payload.get("llm_request")
        request = request if isinstance(request, Mapping) else {}
        changes["llm_request"] = {**request, "messages": build_messages(verdict.messages)}
    if verdict.context:
        changes["additionalContext"] = "\n\n".join(verdict.context)
    return {"hookEventName": incoming.native, **changes} if changes else None


DIALECT = Dialect(
    name="gemini",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_regex,
    timeout=60.0,
    unit=0.001,
    passes_input_on=True,
    tool_names=TOOL_NAMES,
    input_keys=INPUT_KEYS,
    older_names=OLDER_NAMES,
    find_parts=find_parts,
    tried="0.61.0",
)
