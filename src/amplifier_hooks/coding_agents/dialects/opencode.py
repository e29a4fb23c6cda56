"""OpenCode: no shell hooks, but a plugin of ours that tells of its events in this form.

It starts the client with one object on stdin: `session_id`, `cwd`, `hook_event_name`, and what the
event is about (`tool_name`, `tool_input`, `tool_use_id`, `tool_response`, `prompt`, ...). It obeys
the object that comes back, `{}` or nothing for "go ahead", and lets nothing through at a gate when
none comes back.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects import patches
from amplifier_hooks.coding_agents.dialects.answer import Answer, read_answer
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
    require_object,
    require_text,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict

# What its events tell, written by us and read by us


TOOL_NAMES = {
    "Bash": "bash",
    "Read": "read",
    "Write": "write",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "LS": "list",
    "WebFetch": "webfetch",
    "WebSearch": "websearch",
    "Todo": "todowrite",
    "Delegate": "task",
}
INPUT_KEYS = {
    "Read": {"file_path": "filePath"},
    "Write": {"file_path": "filePath"},
    "Edit": {
        "file_path": "filePath",
        "old_string": "oldString",
        "new_string": "newString",
        "replace_all": "replaceAll",
    },
    "Grep": {"glob": "include"},
    "Delegate": {"agent_name": "subagent_type", "task": "prompt"},
}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """A command where it really runs, and each file of a patch."""
    name = incoming.data["tool_name"]
    given = incoming.data["tool_input"]
    folder = get_text(given, "workdir")
    if name == "Bash" and folder:
        command = f"cd {shlex.quote(folder)} && {get_text(given, 'command')}"
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    if name == "apply_patch":
        patch = {"tool_name": name, "tool_input": {"command": given.get("patchText")}}
        return patches.find_parts(replace(incoming, data=patch))
    return ()


_COMMON = frozenset({"session_id", "sessionID", "cwd", "hook_event_name", "agent_id"})


# Tools


def _build_tool(call: Call) -> dict[str, Any]:
    return {
        "tool_name": TOOL_NAMES.get(call.tool, call.tool),
        "tool_input": call.input,
        "tool_use_id": call.tool_call_id,
    }


def _read_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool_name": require_text(payload, "tool_name"),
        "tool_input": require_object(payload, "tool_input"),
    }


def _build_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "tool_response": call.response.get("output")}


def _read_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that fails is not told."""
    result = {"success": True, "output": payload.get("tool_response"), "error": None}
    duration = get_number(payload, "duration_ms")
    return {
        **_read_tool(payload),
        "tool_result": result,
        "success": True,
        "duration_ms": duration,
    }


# The turn


def _build_prompt(call: Call) -> dict[str, Any]:
    return {"prompt": str(call.data.get("prompt", ""))}


def _read_prompt(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"prompt": require_text(payload, "prompt"), "metadata": {}}


def _read_command(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A command of the person's, by its name, with the words behind it."""
    arguments = get_text(payload, "arguments")
    return {"command": require_text(payload, "command"), "arguments": arguments}


def _build_nothing(call: Call) -> dict[str, Any]:
    return {}


def _read_rest(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in _COMMON}


def _read_idle(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "orchestrator": "opencode",
        "final_message": {},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": "success",
    }


def _build_error(call: Call) -> dict[str, Any]:
    return {"error": call.error}


def _read_error(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"error": {"type": "error", "message": get_text(payload, "error")}}


def _read_compacting(payload: Mapping[str, Any]) -> dict[str, Any]:
    sizes = dict.fromkeys(("current_tokens", "target_tokens", "messages_count"), 0)
    return {"trigger": "auto", **sizes}


def _read_compacted(payload: Mapping[str, Any]) -> dict[str, Any]:
    names = ("tokens_before", "tokens_after", "messages_before", "messages_after")
    return {"trigger": "auto", **dict.fromkeys(names, 0)}


# The session


def _read_start(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"mount_plan": {}, "source": "startup"}


def _read_end(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"reason": "user_exit", "duration_ms": 0, "stats": {}}


# The first five are functions that OpenCode waits for; it only mentions the others.
EVENTS: dict[str, NativeEvent] = {
    "tool.execute.before": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "rewrite"}),
        gate=True,
    ),
    "tool.execute.after": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_result,
        TOOL,
        _read_result,
        powers=frozenset({"deny", "replace", "inject"}),
        gate=True,
    ),
    "chat.message": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        _build_prompt,
        read_fields=_read_prompt,
        powers=frozenset({"deny", "rewrite", "inject"}),
        gate=True,
    ),
    "command.execute.before": NativeEvent(
        (), _build_nothing, read_fields=_read_command, powers=frozenset({"deny"}), gate=True
    ),
    "experimental.session.compacting": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        _build_nothing,
        read_fields=_read_compacting,
        powers=frozenset({"inject"}),
    ),
    "session.compacted": NativeEvent(
        (Occasion(events.CONTEXT_POST_COMPACT),), _build_nothing, read_fields=_read_compacted
    ),
    "session.created": NativeEvent(
        (Occasion(events.SESSION_START),), _build_nothing, read_fields=_read_start
    ),
    "session.idle": NativeEvent(
        (Occasion(events.ORCHESTRATOR_COMPLETE),), _build_nothing, read_fields=_read_idle
    ),
    "session.error": NativeEvent(
        (Occasion(events.ERROR_ORCHESTRATION),), _build_error, read_fields=_read_error
    ),
    "session.deleted": NativeEvent(
        (Occasion(events.SESSION_END),), _build_nothing, read_fields=_read_end
    ),
    # The program ends, and with it all that was open.
    "dispose": NativeEvent((Occasion(events.SESSION_END),), _build_nothing, read_fields=_read_end),
    "permission.asked": NativeEvent((), _build_nothing, read_fields=_read_rest),
    "permission.replied": NativeEvent((), _build_nothing, read_fields=_read_rest),
}


# What its plugin is answered


class Output(Answer):
    """The object on stdout: a denial, or changes; the plugin looks for the denial first."""

    deny: str | None = None
    """The plugin throws this: the tool does not run, or its result is not shown."""

    args: dict[str, Any] | None = None
    """In the place of the tool's input."""

    output: str | None = None
    """In the place of what the tool returned."""

    prompt: str | None = None
    """In the place of what the person wrote."""

    context: list[str] | None = None
    """For the model, behind the prompt or behind the tool's result."""


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """What the plugin makes of it: JSON at exit 0, a denial at 2."""
    output = read_answer(Output, handler, reply)
    if isinstance(output, Verdict):
        return output
    if output.deny is not None:
        return Verdict("deny", output.deny or None)
    return Verdict(
        tool_input=output.args,
        output=UNCHANGED if output.output is None else output.output,
        prompt=output.prompt,
        context=tuple(output.context or ()),
    )


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """A denial alone, or every change."""
    if verdict.decision == "deny":
        return build_reply({"deny": verdict.reason})
    return build_reply(
        {
            "args": verdict.tool_input,
            "output": None if verdict.output is UNCHANGED else _print(verdict.output),
            "prompt": verdict.prompt,
            "context": list(verdict.context) or None,
        }
    )


def _print(output: Any) -> str:
    """OpenCode's tools return texts."""
    return output if isinstance(output, str) else json.dumps(output, default=str)


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {"session_id": call.session_id, "cwd": call.cwd, "hook_event_name": call.native}


def build_environment(call: Call) -> dict[str, str]:
    """Nothing: a plugin is no program of its own."""
    return {}


DIALECT = Dialect(
    name="opencode",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_regex,
    timeout=600.0,
    tool_names=TOOL_NAMES,
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
    tried="1.18.34",
)
