"""The registrations of one module, made together and removed together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_core.utils import safe_repr

Handler = Callable[[str, dict[str, Any]], Awaitable[HookResult]]
Removal = Callable[[], None]


def subscribe(
    host: Host, owner: str, priority: int, handlers: Iterable[tuple[str, Handler]]
) -> Removal:
    """Register every handler under the module's name; the returned call removes them all."""
    return combine_removals(
        [
            host.hooks.register(event, handler, priority=priority, name=owner)
            for event, handler in handlers
        ]
    )


def combine_removals(removals: Iterable[Removal]) -> Removal:
    """Combine removals into one call, which makes them in reverse order; a second does nothing."""
    pending = list(removals)

    def remove() -> None:
        while pending:
            pending.pop()()

    return remove


def get_session_id(host: Host, data: dict[str, Any]) -> str:
    """The id of an event's session: a sub-agent's events reach its parent's hooks too."""
    session = data.get("session_id") or host.session_id or "unknown"
    return session if isinstance(session, str) else safe_repr(session)


def is_own_event(host: Host, data: dict[str, Any]) -> bool:
    """Whether an event belongs to the session that mounted the hook, not to a sub-agent."""
    own = host.session_id
    return own is None or get_session_id(host, data) == str(own)


def get_working_dir(host: Host) -> str:
    """The working directory of the session; that of the process if it has none."""
    return str(host.get_capability("session.working_dir") or ".")
