"""Opening the session of ours that stands behind one of another agent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.reload import ChangePolicy
from amplifier_hooks.agent.session.remote_approval import reach_people
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.installing.places import PLACES
from amplifier_hooks.coding_agents.protection import protect_guard
from amplifier_hooks.coding_agents.sessions.allow_list import load_allow_list
from amplifier_hooks.coding_agents.sessions.approval import (
    NOBODY,
    HostPrompt,
    RememberingApproval,
    make_patience,
)
from amplifier_hooks.coding_agents.sessions.bypasses import deny_bare_shells, refuse_prompts
from amplifier_hooks.coding_agents.sessions.handlers import ask_people_elsewhere
from amplifier_hooks.coding_agents.sessions.session import AgentDisplay, AgentSession
from amplifier_hooks.external.plan import TrustedPlan, adapt_to_program, load_trusted_plan
from amplifier_hooks.external.session import ExternalSession

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def name_session(agent: str, theirs: str) -> str:
    """Our id of a session of theirs; one that could be no file name is replaced by its digest."""
    fits = _PLAIN.fullmatch(theirs)
    return f"{agent}-{theirs if fits else sha256(theirs.encode('utf-8', 'replace')).hexdigest()}"


async def open_agent_session(
    dialect: Dialect,
    session_id: str,
    start: Path,
    *,
    bundle: str = "",
    guarded: Sequence[Path] = (),
    state: Mapping[str, Any] | None = None,
    self_test: bool = False,
    alone: bool = False,
) -> AgentSession:
    """Start the session, or go on with it where `state` says how it stood.

    `alone` is an agent that would ask its person, and has nobody in front of it.
    """
    asks = dialect.asks_its_person and not alone
    plan = await asyncio.to_thread(load_plan, dialect, start, bundle, guarded, asks=asks)
    section = plan.bundle.mount_plan["approval"]
    display = AgentDisplay()
    people = await reach_people(section, plan.folder, self_test=self_test)
    session = await open_session(
        plan.bundle,
        session_id=session_id,
        approval_system=HostPrompt(dialect.name) if asks else None,
        display_system=display,
        working_dir=plan.folder,
        resume=state,
        material=plan.material,
        changes=ChangePolicy(accepts=plan.accepts),
        elsewhere=people,
        prepare=_remember_answers,
    )
    external = await ExternalSession.attach(session, dialect.name)
    asking = session.coordinator.approval_system
    if isinstance(asking, RememberingApproval):
        external.tools.on_run = asking.allowed.note
        state = session.coordinator.session_state
        known = load_allow_list(dialect.name, plan.bundle.mount_plan, state)
        asking.find_rule = known.find_rule
    deny_bare_shells(session.coordinator, dialect)
    refuse_prompts(session.coordinator, dialect.name)
    protect_guard(
        session.coordinator,
        plan.folder,
        guarded,
        agent=dialect.name,
        starts=(plan.folder, start),
    )
    if people is not None and plan.names_people:
        ask_people_elsewhere(session.coordinator, dialect.name)
    watched = start if dialect.name in PLACES else None
    agent = AgentSession(dialect, external, session, display, people, watched, alone=alone)
    if people is not None and not plan.names_people and "timeout" not in section:
        people.wait_briefly(make_patience(session.coordinator.session_state))
        agent.say_at_start(NOBODY)
    return agent


def _remember_answers(session: AssembledSession) -> None:
    """Have what people say for always kept with the session."""
    coordinator = session.coordinator
    if coordinator.approval_system is not None:
        state = coordinator.session_state
        coordinator.approval_system = RememberingApproval(coordinator.approval_system, state)


def load_plan(
    dialect: Dialect,
    start: Path,
    named: str = "",
    guarded: Sequence[Path] = (),
    *,
    asks: bool | None = None,
) -> TrustedPlan:
    """Read what governs an agent; Untrusted if no person has allowed exactly that.

    `guarded` has the files by which the agent is guarded.
    """

    def adapt(plan: dict[str, Any]) -> dict[str, Any]:
        return adapt_plan(plan, dialect, guarded, asks=asks)

    return load_trusted_plan(start, named, adapt)


def adapt_plan(
    plan: dict[str, Any],
    dialect: Dialect,
    guarded: Sequence[Path] = (),
    *,
    asks: bool | None = None,
) -> dict[str, Any]:
    """The plan without what the agent has itself, and with its guard's own guard.

    `asks` says whether it asks its person, if not every one of its kind does.
    """
    asking = dialect.asks_its_person if asks is None else asks
    return adapt_to_program(plan, guarded, can_ask=asking)
