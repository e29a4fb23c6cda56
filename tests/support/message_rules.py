"""The rules that model APIs have for the messages of a request; to break one is answered with 400.

Written from the documented behaviour of OpenAI's chat completions and Anthropic's messages. Nothing
is mended on the way into their forms: a message becomes one message, in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

Message = Mapping[str, Any]

_OPENAI_ROLES = {"system", "developer", "user", "assistant", "tool"}


def check_request(messages: Sequence[Message]) -> None:
    """Fail if one of the two APIs would refuse the messages of a request."""
    found = [*find_openai_faults(messages), *find_anthropic_faults(messages)]
    assert not found, f"{show_roles(messages)}: {'; '.join(found)}"


def check_history(messages: Sequence[Message]) -> None:
    """The same for a conversation in which the last calls may still be running."""
    kept = list(messages)
    while kept and _may_follow_calls(kept[-1]):
        kept.pop()
    under_way = _list_calls(kept[-1]) if kept else []
    behind = messages[len(kept) :]
    answered = [str(one.get("tool_call_id")) for one in behind if one["role"] == "tool"]
    if set(answered) < set(under_way):
        # Whatever is still to come stands directly behind the results that are there.
        roles = [one["role"] for one in behind]
        assert "tool" not in roles[len(answered) :], show_roles(messages)
        messages = [*kept[:-1], *behind[len(answered) :]]
    check_request(messages)


def _may_follow_calls(message: Message) -> bool:
    is_hooks = (message.get("metadata") or {}).get("source") == "hook"
    return is_hooks or message.get("role") in ("tool", "system", "developer")


def show_roles(messages: Iterable[Message]) -> str:
    """The messages in short: `user assistant(1) system tool(1)`."""
    return " ".join(map(_show_role, messages))


def _show_role(message: Message) -> str:
    ids = _list_calls(message) or [str(i) for i in (message.get("tool_call_id"),) if i is not None]
    return f"{message.get('role')}({','.join(ids)})" if ids else str(message.get("role"))


def _list_calls(message: Message) -> list[str]:
    return [str(call.get("id")) for call in message.get("tool_calls") or ()]


def find_openai_faults(messages: Sequence[Message]) -> list[str]:
    """What OpenAI's chat completions would refuse."""
    faults: list[str] = []
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        role, call = message.get("role"), message.get("tool_call_id")
        if role == "tool" and call in open_calls:
            open_calls.remove(call)
        elif role == "tool":
            faults.append(f"[{place}] is the result of {call!r}, which nothing called")
        else:
            if open_calls:
                faults.append(f"[{place}] {role} stands where the result of {open_calls} has to be")
            open_calls = _list_calls(message) if role == "assistant" else []
            faults += (f"[{place}] {fault}" for fault in _find_faults_of_one(message))
    if open_calls:
        faults.append(f"the calls {open_calls} have no result")
    return faults


def _find_faults_of_one(message: Message) -> Iterable[str]:
    role, calls = message.get("role"), _list_calls(message)
    if role not in _OPENAI_ROLES:
        yield f"has the role {role!r}"
    if len(set(calls)) < len(calls) or "None" in calls:
        yield f"has calls without an id of their own: {calls}"
    if role != "assistant" and message.get("content") in (None, "", []):
        yield "says nothing"


def find_anthropic_faults(messages: Sequence[Message]) -> list[str]:
    """What Anthropic's messages would refuse: results come first in the user's next message."""
    spoken = [_to_anthropic(one) for one in messages if not _leads(one, messages)]
    # Messages of one role in a row are read as one.
    merged = [
        (role, [block for _, blocks in group for block in blocks])
        for role, group in groupby(spoken, key=lambda one: one[0])
    ]
    faults: list[str] = []
    called: list[str] = []
    for place, (role, blocks) in enumerate(merged):
        kinds = [kind for kind, _ in blocks]
        results = [call for kind, call in blocks if kind == "tool_result"]
        if "tool_result" in kinds[kinds.count("tool_result") :]:
            faults.append(f"[{place}] has text before a tool_result")
        if missing := set(called) - set(results):
            faults.append(f"[{place}] lacks tool_result blocks for {sorted(missing)}")
        if strangers := set(results) - set(called):
            faults.append(f"[{place}] has tool_result blocks of no tool_use: {sorted(strangers)}")
        if len(set(results)) < len(results):
            faults.append(f"[{place}] answers a tool_use twice: {results}")
        called = [call for kind, call in blocks if kind == "tool_use"]
        # Behind its calls the assistant says nothing more.
        if role == "assistant" and called and "text" in kinds[kinds.index("tool_use") :]:
            faults.append(f"[{place}] has text behind a tool_use")
    if called:
        faults.append(f"tool_use without tool_result at the end: {called}")
    return faults


def _leads(message: Message, messages: Sequence[Message]) -> bool:
    """Whether it is an instruction at the start, which goes elsewhere."""
    if message["role"] not in ("system", "developer"):
        return False
    for one in messages:
        if one is message:
            return True
        if one["role"] not in ("system", "developer"):
            return False
    return False


def _to_anthropic(message: Message) -> tuple[str, list[tuple[str, str]]]:
    if message["role"] == "tool":
        return "user", [("tool_result", str(message.get("tool_call_id")))]
    said = [("text", "")] if message.get("content") else []
    if message["role"] == "assistant":
        return "assistant", [*said, *(("tool_use", call) for call in _list_calls(message))]
    return "user", said
