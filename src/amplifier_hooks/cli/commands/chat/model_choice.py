"""/model: which model answers, which others there are, and how to change it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from amplifier_core.mount_plan import MountPlan, check_locks
from amplifier_core.mounting import resolve_provider
from amplifier_core.session import AmplifierSession
from amplifier_core.utils.text import find_closest
from amplifier_hooks import AssembledSession
from amplifier_hooks.cli.commands.plan import apply_flags

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
