"""An answer to a call in one sentence."""

from __future__ import annotations

_MEANINGS = {
    "continue": "No hook that was asked would stop or change this call.",
    "modify": "The call would go on with another input.",
    "inject_context": "The call would go on, and a hook would tell the agent something.",
    "ask_user": "A person would be asked before this call.",
    "deny": "A hook would deny this call.",
    "unknown": "Not known: a hook that cannot be asked without effects may stop this call.",
}
_DEPENDS = " What happened in the session, such as too many calls, may still stop it."
_SHADOW = " The bundle is in shadow mode, though: answers are recorded and have no effect."


def explain(answer: str, *, enforced: bool, depends: bool) -> str:
    """What an answer means for whoever wants to make the call."""
    more = _DEPENDS if depends and answer not in ("deny", "unknown") else ""
    return _MEANINGS[answer] + more + ("" if enforced else _SHADOW)
