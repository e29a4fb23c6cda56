"""Why a request about a session is refused: a status, a code for programs, a sentence."""

from __future__ import annotations

from amplifier_hooks.http_guard import Refusal

RETRY_SECONDS = 1


def no_session(session_id: str) -> Refusal:
    """There is none of that id for this token, or not since this server was started."""
    why = f"There is no session {session_id[:100]!r} here; open one, nothing is allowed until then"
    return Refusal(404, why, code="no_session")


def no_event(event_id: str) -> Refusal:
    """The session never had it."""
    return Refusal(404, f"The session has no event {event_id[:100]!r}", code="no_event")


def key_reused(what: str) -> Refusal:
    """A retry has the same body; anything else needs a name of its own."""
    why = f"{what} was used before with another body; make up a new one"
    return Refusal(409, why, code="key_reused")


def session_ended(reason: str) -> Refusal:
    """Nothing is allowed any more."""
    words = {
        "timeout": "its program sent nothing for as long as its lease, or the lease was too short",
        "error": "its program or the server ended with an error, or the server was stopped",
        "user_exit": "its person stopped it",
        "complete": "its program ended it",
    }
    why = f"The session is over ({reason}): {words.get(reason, 'it ended')}. Nothing is allowed"
    return Refusal(409, why, code="session_ended")


def session_denied(reason: str) -> Refusal:
    """A hook refused its start."""
    return Refusal(403, reason, code="session_denied")


def no_call(call_id: str) -> Refusal:
    """A result of something that was never allowed, or whose result is known."""
    why = f"No call {call_id[:100]!r} waits for a result: it was never allowed, or was reported"
    return Refusal(409, why, code="no_call")


def not_declared() -> Refusal:
    """What hooks say would be handed out twice: as notes, and in messages."""
    why = 'The session was opened without "requests": true, so it takes no requests'
    return Refusal(409, why, code="not_declared")


def answer_gone(event_id: str) -> Refusal:
    """It was judged, and so long ago that the answer is not kept."""
    why = f"The answer to {event_id[:100]!r} is no longer kept; take it for a no"
    return Refusal(410, why, code="answer_gone")


def too_many(why: str) -> Refusal:
    """A limit is reached."""
    return Refusal(429, why, code="too_many", retry_after=RETRY_SECONDS)


def stopping() -> Refusal:
    """The server is about to end."""
    why = "The server is being stopped; open a session at the next one"
    return Refusal(503, why, code="unavailable", retry_after=RETRY_SECONDS)


def untrusted(why: str) -> Refusal:
    """No person has allowed the bundle as it is."""
    return Refusal(409, why, code="untrusted")


def unusable_bundle(why: str) -> Refusal:
    """The bundle cannot be used, so nothing could be judged."""
    return Refusal(409, why, code="bundle")
