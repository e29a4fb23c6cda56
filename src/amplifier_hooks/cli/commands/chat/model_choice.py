"""/model: which model answers and how to change it; it is named when a conversation begins."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_core.mount_plan import MountPlan, check_locks
from amplifier_core.mounting import resolve_provider
from amplifier_core.session import AmplifierSession
from amplifier_core.utils.text import find_closest
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.cli.commands.agent import Agent
from amplifier_hooks.cli.commands.plan import apply_flags
from amplifier_hooks.cli.text.output import Part, print_line, print_wrapped, shorten_folder
from amplifier_hooks.text.escape import escape
from amplifier_hooks.text.short_ids import shorten_id

LIST_SECONDS = 5.0
MOST_LISTED = 20


def find_provider(session: AmplifierSession) -> Any:
    """The provider that the session talks to; None if it has none."""
    points = session.coordinator.mount_points
    return resolve_provider(points["providers"], points["orchestrator"])


def name_model(session: AmplifierSession) -> str:
    """The model that answers, and whose it is."""
    provider = find_provider(session)
    if provider is None:
        return "none"
    name = str(getattr(provider, "name", "?"))
    model = getattr(provider, "model", None)
    return name if model in (None, "", name) else f"{model} ({name})"


async def list_models(session: AmplifierSession) -> list[str]:
    """The models that the provider offers; none if it does not say so soon."""
    offer = getattr(find_provider(session), "list_models", None)
    if offer is None:
        return []
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return sorted(str(one.id) for one in await offer())
    except Exception:  # noqa: BLE001 - a list that cannot be had is no reason to stop
        return []


async def describe_models(session: AmplifierSession) -> str:
    """The model that answers, and the others of its provider."""
    found = await list_models(session)
    lines = [f"{name_model(session)} answers. /model NAME or /model PROVIDER/NAME changes it."]
    lines += [f"  {name}" for name in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        lines.append(f"  and {len(found) - MOST_LISTED} more")
    return "\n".join(lines)


async def change_model(session: AssembledSession, provider: str | None, model: str | None) -> str:
    """Have another model answer from the next prompt on; returns what to say about it."""
    plan = apply_flags(dict(session.config), provider, model)
    parsed = MountPlan.parse(plan)
    check_locks(session.config, parsed)
    await _replace_providers(session, parsed)
    session.config = plan
    said = f"{name_model(session)} answers from now on."
    known = await list_models(session)
    if model and len(known) > 1 and model not in known:
        close = find_closest(model, known)
        meant = f" Did you mean {close}?" if close else ""
        return f"{said} The provider does not list a model of that name.{meant}"
    return said


def read_choice(session: AmplifierSession, wanted: str) -> tuple[str | None, str | None]:
    """The provider and the model; names of models may have slashes themselves."""
    provider, slash, model = wanted.partition("/")
    names = _list_provider_names(session.config)
    if slash and provider in names:
        return provider, model or None
    return (wanted, None) if wanted in names else (None, wanted)


def _list_provider_names(plan: Mapping[str, Any]) -> set[str]:
    from amplifier_hooks.cli.commands.plan import ALIASES

    entries = [entry for kind, entry in MountPlan.parse(plan).entries() if kind == "providers"]
    given = {one.name for one in entries} | {one.module for one in entries}
    return {*(name for name in given if name), *ALIASES}


async def _replace_providers(session: AssembledSession, plan: MountPlan) -> None:
    """Mount the providers of a plan instead of those there are; if one fails, put these back."""
    before = [one for one in session.mounting.mounted if one.kind == "providers"]
    wanted = [entry for kind, entry in plan.entries() if kind == "providers"]
    for one in before:
        await session.mounting.unmount(one)
    try:
        for entry in wanted:
            await session.mounting.mount("providers", entry)
    except Exception:
        for one in [one for one in session.mounting.mounted if one.kind == "providers"]:
            await session.mounting.unmount(one)
        for one in before:
            await session.mounting.mount("providers", one.entry)
        raise


_LABEL_WIDTH = 9


def greet(agent: Agent) -> None:
    """Say who answers, where, under which hooks and in which session."""
    if not sys.stdin.isatty():
        return
    _print_fact("model", name_model(agent.session))
    _print_fact("folder", shorten_folder(str(Path.cwd())))
    _print_fact("hooks", ", ".join(list_hooks(agent)) or "none")
    _print_fact("session", describe_session(agent))
    print_line(("dim", "/help lists the commands. Esc stops the agent, Ctrl-D leaves."))
    print_line("")


def say_goodbye(agent: Agent) -> None:
    """Say how to come back."""
    if sys.stdin.isatty():
        short = _shorten_session(agent)
        print_line(("dim", "Saved. To continue: "), ("tool", f"amplifier chat --resume {short}"))


def list_hooks(agent: Agent) -> list[str]:
    """The names of the hook modules that are at work."""
    mounted = [one for one in agent.session.mounting.mounted if one.kind == "hooks"]
    names = [one.entry.name or one.id for one in mounted if one.error is None]
    return [name.removeprefix("hooks-") for name in names]


def describe_session(agent: Agent) -> str:
    """The session's short id, its name, and how far it has come."""
    name = f" {agent.info.name}" if agent.info.name else ""
    resumed = f", resumed after {count_turns(agent)}" if agent.session.is_resumed else ""
    return f"{_shorten_session(agent)}{name}{resumed}"


def _shorten_session(agent: Agent) -> str:
    """As much of its id as tells it from the other saved sessions."""
    return shorten_id(agent.session.session_id, (one.id for one in SessionStore().list()))


def count_turns(agent: Agent) -> str:
    """In words."""
    return f"{agent.turns} turn{'s' * (agent.turns != 1)}"


def _print_fact(label: str, fact: str) -> None:
    name: Part = ("dim", f"{label:<{_LABEL_WIDTH}}")
    print_wrapped(0, name, ("", escape(fact)))
