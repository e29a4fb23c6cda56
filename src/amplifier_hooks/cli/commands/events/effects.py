"""What each answer of a hook does at each event, in words."""

from __future__ import annotations

from amplifier_core.events import canonical, is_notification, stops

_DENIED_AND_CHANGED = {
    "session:start": ("the session does not start", "the changed plan is used"),
    "prompt:submit": (
        "the prompt is not processed; the reason becomes the reply",
        "the changed prompt is used",
    ),
    "prompt:answer": (
        "the answer is withheld; the reason takes its place, also in the conversation",
        "the changed answer is handed over and kept in the conversation",
    ),
    "provider:request": (
        "the request is not sent, and the turn ends",
        "the changed messages are sent; the conversation itself stays the same",
    ),
    "provider:response": ("the reply is withheld", "the changed reply is used"),
    "tool:pre": ("the tool does not run; the agent is told why", "the changed input is used"),
    "tool:post": ("the agent sees the reason, not the result", "the agent sees the changed result"),
    "context:pre_compact": ("nothing is compacted", "the changed data is used"),
    "agent:spawn": ("the sub-agent does not start", "the changed data is used"),
    "decision:tool_resolution": (
        "the tool does not run; the agent is told why",
        "the tool with the new name runs",
    ),
    "decision:agent_resolution": (
        "no sub-agent starts",
        "the agent with the new name gets the task",
    ),
    "decision:context_resolution": (
        "nothing is compacted",
        "the strategy with the new name is used",
    ),
    "mcp:list": (
        "nothing of it reaches the model or the client",
        "the changed items and instructions take its place",
    ),
}
_INJECTED = {
    "session:start": "the first message of the conversation",
    "prompt:submit": "seen in this turn",
    "prompt:answer": "seen in the next turn",
    "provider:request": "seen in this request",
    "agent:spawn": "seen by the sub-agent",
}
_LATER = "seen in the next request"
_NOTHING = "has no effect, which is said and recorded"
_ITS_MODULE = "whatever the module that emits it makes of that"
_HIDDEN = "seen by later hooks and the trail"
_GOES_ON = "the agent goes on, with the reason as its prompt, where it can: eight times in a row"


def describe_effects(event: str) -> dict[str, str]:
    """What happens for each action, the strongest first."""
    if not is_notification(event) and canonical(event) not in _DENIED_AND_CHANGED:
        told = dict.fromkeys(("deny", "ask_user", "modify"), _ITS_MODULE)
        return {**told, "inject_context": f"{_LATER}, if there is one"}
    if is_notification(event):
        return {
            "deny": _GOES_ON if canonical(event) in stops else _NOTHING,
            "ask_user": f"{_NOTHING}; nobody is asked",
            "inject_context": f"{_LATER}, if there is one",
            "modify": _HIDDEN,
        }
    denied, changed = _DENIED_AND_CHANGED[canonical(event)]
    return {
        "deny": denied,
        "ask_user": "a person decides; a refusal has the effect of deny",
        "inject_context": _INJECTED.get(canonical(event), _LATER),
        "modify": changed,
    }
