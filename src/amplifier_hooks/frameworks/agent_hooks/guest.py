"""Our hooks as an interceptor: they judge in any host of the contract."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_hooks import AgentContext, InterceptionPoint, Verdict

from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ApprovalError, SessionDenied
from amplifier_core.events.payloads import EndReason
from amplifier_core.hooks import HookRegistry
from amplifier_core.host.display import DisplaySystem
from amplifier_core.session import AmplifierSession
from amplifier_core.trail import AuditSink
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.opening import (
    BundleSource,
    CoordinatorSource,
    RegistrySource,
    Settings,
)
from amplifier_hooks.frameworks.agent_hooks.guest_turn import JUDGES, GuestTurn
from amplifier_hooks.frameworks.agent_hooks.handing import HOST, HandingOver
from amplifier_hooks.frameworks.agent_hooks.verdicts import name_reason
from amplifier_hooks.frameworks.governing import Governable

_ENDS: dict[str, EndReason] = {"completed": "complete", "cancelled": "user_exit"}


@dataclass(slots=True)
class _Guest:
    """One session of the host: opened once, by whichever point comes first."""

    turn: GuestTurn | None = None
    refusal: str = ""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)


class AmplifierInterceptor:
    """Our hooks in front of an agent that any host of the contract runs.

    `hooks` is the path of a bundle, a Bundle, a registry, a session or coordinator made by hand, or
    a Governor. A question of a hook is a denial that the host's resolver may lift; with `approval`,
    with a Governor, and with a session that has its own approval system, people are asked here
    instead, so give the host no time limit for its interceptors then.
    """

    def __init__(
        self,
        hooks: Governable,
        *,
        approval: AnyApprovalSystem | None = None,
        display: DisplaySystem | None = None,
        audit: AuditSink | None = None,
        folder: str | Path | None = None,
    ) -> None:
        place = None if folder is None else Path(folder)
        self._source = _find_source(
            hooks, Settings(approval or HandingOver(), display, audit, place)
        )
        self._guests: dict[str, _Guest] = {}

    async def intercept(self, context: AgentContext, /) -> Verdict:
        """What our hooks say of what the host is about to do."""
        session_id = str(context["session"]["id"])
        point = InterceptionPoint(context["interception_point"])
        guest = self._guests.setdefault(session_id, _Guest())
        async with guest.opening:
            await self._open(guest)
        if point is InterceptionPoint.AGENT_SHUTDOWN:
            await self._end(session_id, str(context["summary"].get("reason")))
            return Verdict.allow()
        if guest.turn is None:
            return Verdict.deny(reason=name_reason("session"), message=guest.refusal)
        return await JUDGES[point](guest.turn, context)

    async def _open(self, guest: _Guest) -> None:
        if guest.turn is not None or guest.refusal:
            return
        try:
            guest.turn = GuestTurn(await self._source.open(HOST))
        except SessionDenied as error:
            guest.refusal = str(error)

    async def _end(self, session_id: str, reason: str) -> None:
        guest = self._guests.pop(session_id, None)
        if guest is not None and guest.turn is not None:
            await guest.turn.close(_ENDS.get(reason, "error"))

    async def close(self) -> None:
        """End the sessions that their host did not end."""
        for session_id in list(self._guests):
            await self._end(session_id, "completed")


def _find_source(hooks: Any, settings: Settings) -> Any:
    if isinstance(hooks, Governor):
        return hooks._source  # of the same house: it opens what its other adapters open
    if isinstance(hooks, AmplifierSession):
        hooks = hooks.coordinator
    if isinstance(hooks, SessionCoordinator):
        if hooks.approval_system is None:
            with suppress(ApprovalError):  # one that has started: a question is a plain denial
                hooks.approval_system = settings.approval
        return CoordinatorSource(hooks)
    if isinstance(hooks, HookRegistry):
        return RegistrySource(hooks, settings)
    if isinstance(hooks, Bundle):
        return BundleSource(hooks, settings)
    if isinstance(hooks, str | Path):
        return BundleSource.load(hooks, settings)
    raise TypeError(
        "AmplifierInterceptor takes the path of a bundle, a Bundle, a HookRegistry, a coordinator, "
        f"a session or a Governor, got {type(hooks).__name__}"
    )
