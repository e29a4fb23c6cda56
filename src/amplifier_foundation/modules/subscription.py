"""The registrations of one module, made together and removed together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.utils import safe_repr

Handler = Callable[[str, dict[str, Any]], Awaitable[HookResult]]


def subscribe(
    coordinator: Any, owner: str, priority: int, handlers: Iterable[tuple[str, Handler]]
) -> Callable[[], None]:
    """Register every handler under the module's name; the answer removes them all."""
    removals = [
        coordinator.hooks.register(event, handler, priority=priority, name=owner)
        for event, handler in handlers
    ]

    def remove() -> None:
        for removal in reversed(removals):
            removal()

    return remove


def session_of(coordinator: Any, data: dict[str, Any]) -> str:
    """The session that an event belongs to: a sub-agent's events reach its parent's hooks too."""
    session = data.get("session_id") or coordinator.session_id or "unknown"
    return session if isinstance(session, str) else safe_repr(session)


def is_own(coordinator: Any, data: dict[str, Any]) -> bool:
    """Whether an event is of the session that mounted the hook, not of one of its sub-agents."""
    own = coordinator.session_id
    return own is None or session_of(coordinator, data) == str(own)


def working_dir(coordinator: Any) -> str:
    """Where the session works; the process's own directory if it does not say."""
    return str(coordinator.get_capability("session.working_dir") or ".")
