"""Claude Code: settings.json, event → matcher → handlers, all in parallel, open on failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from amplifier_hooks.coding_agents.dialects.answer import (
    Answer,
    CommonAnswer,
    judge_exit,
    judge_text,
    parse_object,
    report_failure,
    validate_answer,
)
from amplifier_hooks.coding_agents.dialects.claude_events import (
    EVENTS,
    INPUT_KEYS,
    OLDER_NAMES,
    TOOL_NAMES,
    build_common,
    build_environment,
    build_response,
    find_parts,
)
from amplifier_hooks.coding_agents.dialects.dialect import (
    Call,
    Dialect,
    Handler,
    Reply,
    build_reply,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_listed
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Decision, Verdict

_KEPT = ("type", "status", "mode", "kind", "role", "filepath")
"""The ends of keys whose texts say what the rest is; they have a fixed set of values."""

_SHOWN = ("stdout", "content", "result", "text", "output", "newString", "filenames")
"""The keys whose text the model reads, the likeliest first."""

SHOWN_BY = frozenset({"Bash", "Read", "Grep", "Glob", "WebFetch", "Agent"})
"""The tools whose text the model reads; of others it may be told only that they succeeded."""

_DEEPEST = 50

Place = tuple[str | int, ...]


def reshape(tool: str, shape: Any, text: str) -> Any:
    """The result of a tool with nothing in it but this text."""
    if tool == "Read":
        return _reshape_read(shape, text)
    if not isinstance(shape, dict | list):
        return text
    emptied = _empty("", shape, _DEEPEST)
    place = _find_place(emptied, shape)
    if place:
        _replace_text(emptied, place, text)
    emptied = _drop_empty(emptied)
    if tool == "Bash" and isinstance(emptied, dict):
        emptied["isImage"] = False
    return emptied


def has_shape(shape: Any, output: Any) -> bool:
    """Whether an output still is of this shape, so that only its texts may have changed."""
    if isinstance(shape, dict):
        return isinstance(output, dict) and output.keys() == shape.keys()
    return isinstance(shape, list) == isinstance(output, list)


def _reshape_read(shape: Any, text: str) -> dict[str, Any]:
    """A file of text, also in the place of a picture or a notebook."""
    file = shape.get("file") if isinstance(shape, dict) else None
    path = file.get("filePath") if isinstance(file, dict) else None
    lines = text.count("\n") + 1
    named = {"filePath": path if isinstance(path, str) else "", "content": text}
    counted = {"numLines": lines, "startLine": 1, "totalLines": lines}
    return {"type": "text", "file": {**named, **counted}}


def _empty(key: str, value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if key.lower().endswith(_KEPT) else ""
    if depth and isinstance(value, dict):
        return {name: _empty(name, inner, depth - 1) for name, inner in value.items()}
    if depth and isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            return [""] if value else []
        return [_empty(key, one, depth - 1) for one in value]
    return value if not isinstance(value, dict | list) else type(value)()


def _drop_empty(value: Any) -> Any:
    """Lists of texts that are empty now: an empty name of something is worse than none."""
    if isinstance(value, dict):
        return {name: _drop_empty(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [] if value == [""] else [_drop_empty(one) for one in value]
    return value


def _find_place(emptied: Any, shape: Any) -> Place:
    """Where the text goes: to what the model reads, else to where most of the text was."""
    places = [place for place, key in _walk(emptied) if not key.lower().endswith(_KEPT)]
    for name in _SHOWN:
        for place in places:
            if name in place:
                return place
    return max(places, key=lambda place: len(_get(shape, place)), default=())


def _walk(value: Any, place: Place = (), key: str = "") -> Iterator[tuple[Place, str]]:
    """Every text in it, and the name it has."""
    if isinstance(value, str):
        yield place, key
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, (*place, name), name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*place, index), key)


def _get(value: Any, place: Place) -> str:
    for step in place:
        value = value[step]
    return value if isinstance(value, str) else ""


def _replace_text(value: Any, place: Place, text: str) -> None:
    for step in place[:-1]:
        value = value[step]
    value[place[-1]] = text


_PROMPTS = frozenset({"UserPromptSubmit", "UserPromptExpansion"})
_PLAIN_IS_CONTEXT = _PROMPTS | {"SessionStart"}
_TAKES_NO_CODE = frozenset({"PermissionRequest"})
"""Where exit code 2 is a failure as any other."""

_DECISIONS: dict[str | None, Decision] = {"block": "deny", "approve": "allow"}


class Permission(Answer):
    """The decision of a PermissionRequest hook."""

    behavior: Literal["allow", "deny"] | None = None
    message: str | None = None
    updatedInput: dict[str, Any] | None = None  # noqa: N815 - the name on the wire
    interrupt: bool = False


class Specific(Answer):
    """`hookSpecificOutput`, the fields that mean something here."""

    hookEventName: str | None = None  # noqa: N815
    permissionDecision: Decision | None = None  # noqa: N815
    permissionDecisionReason: str | None = None  # noqa: N815
    updatedInput: dict[str, Any] | None = None  # noqa: N815
    additionalContext: str | None = None  # noqa: N815
    updatedToolOutput: Any = UNCHANGED  # noqa: N815
    updatedMCPToolOutput: Any = UNCHANGED  # noqa: N815
    initialUserMessage: str | None = None  # noqa: N815
    sessionTitle: str | None = None  # noqa: N815
    decision: Permission | None = None
    action: Literal["accept", "decline", "cancel"] | None = None


class Output(CommonAnswer):
    """The whole object on stdout."""

    decision: Literal["block", "approve"] | None = None
    hookSpecificOutput: Specific | None = None  # noqa: N815


# Read


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """Exit code first, then the JSON on stdout, then plain text."""
    judged = judge_exit(handler, reply, blocks=call.native not in _TAKES_NO_CODE)
    printed = parse_object(reply.stdout)
    if judged is not None:
        return _look_for_denial(handler, call, reply, printed, judged)
    if printed is not None:
        return _read_object(handler, call, printed)
    text = reply.stdout.strip()
    if text and call.native in _PLAIN_IS_CONTEXT:
        return Verdict(context=(text,))
    return judge_text(handler, text)


def _look_for_denial(
    handler: Handler, call: Call, reply: Reply, printed: dict[str, Any] | None, judged: Verdict
) -> Verdict:
    """A hook that fails after it has printed a denial has denied."""
    if printed is None or reply.failure is not None or judged.decision == "deny":
        return judged
    verdict = _read_object(handler, call, printed)
    return verdict if verdict.decision == "deny" else judged


def _read_object(handler: Handler, call: Call, printed: dict[str, Any]) -> Verdict:
    if printed.get("async") is True:
        return NOTHING
    output = validate_answer(Output, handler, printed)
    if isinstance(output, Verdict):
        return output
    specific = output.hookSpecificOutput or Specific()
    if specific.hookEventName not in (None, call.native):
        sentence = (
            f"Hook {handler.label!r} answered for {specific.hookEventName!r}, "
            f"but was asked about {call.native!r}"
        )
        return report_failure(sentence, fail_closed=handler.fail_closed)
    return _build_verdict(output, specific)


def _build_verdict(output: Output, specific: Specific) -> Verdict:
    decision, reason, tool_input = _decide(output, specific)
    context = (specific.additionalContext, specific.initialUserMessage)
    written = specific.updatedToolOutput
    return Verdict(
        decision=decision,
        reason=reason,
        tool_input=tool_input,
        output=specific.updatedMCPToolOutput if written is UNCHANGED else written,
        context=tuple(text for text in context if text),
        notes=output.notes,
        stop=output.stop or _read_interrupt(specific.decision),
        quiet=output.suppressOutput,
        title=specific.sessionTitle,
    )


def _read_interrupt(chosen: Permission | None) -> str | None:
    if chosen is None or not chosen.interrupt or chosen.behavior != "deny":
        return None
    return chosen.message or "A hook ended the run."


def _decide(
    output: Output, specific: Specific
) -> tuple[Decision | None, str | None, dict[str, Any] | None]:
    """The decision, its reason and the rewritten input, in whichever way they were written."""
    if specific.permissionDecision is not None:
        reason = specific.permissionDecisionReason or output.reason
        return specific.permissionDecision, reason, specific.updatedInput
    if specific.decision is not None:
        chosen = specific.decision
        return chosen.behavior, chosen.message, chosen.updatedInput
    if specific.action in ("decline", "cancel"):
        return "deny", output.reason, None
    return _DECISIONS.get(output.decision), output.reason, specific.updatedInput


# Written


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """One JSON object on stdout, or nothing where there is nothing to say."""
    answer = build_answer(incoming, verdict)
    if verdict.decision == "deny" and incoming.native in _PROMPTS:
        # What is refused may hold a secret: it is not repeated on the screen.
        named = answer.setdefault("hookSpecificOutput", {"hookEventName": incoming.native})
        named["suppressOriginalPrompt"] = True
    return build_reply(answer)


def build_answer(incoming: Incoming, verdict: Verdict) -> dict[str, Any]:
    """That object."""
    native = incoming.native
    answer: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if native == "PreToolUse":
        specific = _write_decision(verdict)
    elif native == "PermissionRequest":
        specific = _write_permission(verdict)
    elif verdict.decision == "deny":
        answer, specific = _write_block(native, verdict)
    context = verdict.context
    if verdict.output is not UNCHANGED:
        specific |= _write_output(incoming, verdict.output)
        context = (*context, *_list_unseen(incoming, verdict.output))
    if context:
        specific["additionalContext"] = "\n\n".join(context)
    if specific:
        answer["hookSpecificOutput"] = {"hookEventName": native, **specific}
    return answer | _write_common(native, verdict)


def _write_common(native: str, verdict: Verdict) -> dict[str, Any]:
    """What stands above the answer to an event."""
    common: dict[str, Any] = {}
    if verdict.notes:
        common["systemMessage"] = "\n".join(verdict.notes)
    if verdict.stop is not None and native != "PermissionRequest":
        common |= {"continue": False, "stopReason": verdict.stop}
    return common


def _write_decision(verdict: Verdict) -> dict[str, Any]:
    """To stop the run is not to stop the tool: the denial stands there as well."""
    specific: dict[str, Any] = {}
    if verdict.decision is not None:
        specific["permissionDecision"] = verdict.decision
        if verdict.reason:
            specific["permissionDecisionReason"] = verdict.reason
    if verdict.tool_input is not None:
        specific["updatedInput"] = verdict.tool_input
    return specific


def _write_block(native: str, verdict: Verdict) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands at the top, and what is of this event alone."""
    if native == "PreModelSwitch":
        return {}, _write_decision(verdict)
    if native in ("Elicitation", "ElicitationResult"):
        return {"reason": verdict.reason}, {"action": "decline"}
    return {"decision": "block", "reason": verdict.reason}, {}


def _write_permission(verdict: Verdict) -> dict[str, Any]:
    """An input can be changed only by allowing it."""
    if verdict.decision == "allow":
        changed = {} if verdict.tool_input is None else {"updatedInput": verdict.tool_input}
        return {"decision": {"behavior": "allow", **changed}}
    if verdict.decision == "deny":
        interrupt = {} if verdict.stop is None else {"interrupt": True}
        return {"decision": {"behavior": "deny", "message": verdict.reason, **interrupt}}
    if verdict.tool_input is not None:
        why = "a hook changed this without allowing it, and here one is not taken without the other"
        return {"decision": {"behavior": "deny", "message": why}}
    return {}


def _write_output(incoming: Incoming, output: Any) -> dict[str, Any]:
    shape = incoming.payload.get("tool_response")
    tool = str(incoming.payload.get("tool_name"))
    if tool.startswith("mcp__"):
        taken = output if isinstance(output, str | list) else json.dumps(output)
        return {"updatedMCPToolOutput": taken}
    if not isinstance(output, str) and has_shape(shape, output):
        return {"updatedToolOutput": output}
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {"updatedToolOutput": reshape(tool, shape, text)}


def _list_unseen(incoming: Incoming, output: Any) -> tuple[str, ...]:
    """A text that the model would not find in the result of this tool."""
    tool = str(incoming.payload.get("tool_name"))
    seen = tool in SHOWN_BY or tool.startswith("mcp__")
    return () if seen or not isinstance(output, str) else (output,)


DIALECT = Dialect(
    name="claude",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_listed,
    timeout=600.0,
    timeouts={"UserPromptSubmit": 30.0, "MessageDisplay": 10.0, "SessionEnd": 1.5},
    tool_names=TOOL_NAMES,
    older_names=OLDER_NAMES,
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
    tried="2.1.327",
)

__all__ = [
    "DIALECT",
    "EVENTS",
    "TOOL_NAMES",
    "build_answer",
    "build_common",
    "build_environment",
    "build_response",
    "read_reply",
    "write_reply",
]
