"""The mount plan of a run: the bundle, with what the flags say on top."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from amplifier_core.errors import SessionError
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import ModuleEntry, read_entry

ALIASES = {
    "anthropic": "provider-anthropic",
    "claude": "provider-anthropic",
    "openai": "provider-openai",
    "local": "provider-local",
    "scripted": "provider-scripted",
}
KEYS = {"provider-anthropic": "ANTHROPIC_API_KEY", "provider-openai": "OPENAI_API_KEY"}

WHAT_TO_DO = (
    "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, use the small model on this machine with "
    "--provider local, or see it work without any model: amplifier demo"
)


class NoModel(SessionError):
    """There is nothing to talk to."""


def apply_flags(plan: dict[str, Any], provider: str | None, model: str | None) -> dict[str, Any]:
    """The plan with the wanted provider and model; NoModel if there is nothing to talk to."""
    providers = _read_providers(plan)
    if provider:
        providers = [_choose_provider(providers, provider)]
    if model and providers:
        first, *others = providers
        config = {**first.config, "model": model}
        providers = [first.model_copy(update={"config": config}), *others]
    changed = {**plan, "providers": [one.to_dict() for one in providers]}
    check_model(changed)
    return changed


def check_model(plan: Mapping[str, Any], env: Mapping[str, str] | None = None) -> None:
    """Say in one sentence what to set when no provider could answer."""
    env = os.environ if env is None else env
    obstacles = [_find_obstacle(one, env) for one in _read_providers(plan)]
    if None in obstacles:
        return
    why = obstacles[0] if obstacles else "The bundle names no provider"
    raise NoModel(f"No model to talk to: {why}. {WHAT_TO_DO}")


def _read_providers(plan: Mapping[str, Any]) -> list[ModuleEntry]:
    return [read_entry("providers", one) for one in plan.get("providers") or ()]


def _choose_provider(providers: list[ModuleEntry], given: str) -> ModuleEntry:
    """The bundle's own entry where it has one, with its settings; else the module as it is."""
    wanted = ALIASES.get(given, given)
    named = [one for one in providers if wanted in (one.module, one.name, one.instance_id)]
    return named[0] if named else ModuleEntry(module=_find_module(wanted), required=True)


def _find_module(wanted: str) -> str:
    """The module meant by an id, a path, or the short name of an installed provider."""
    if "-" in wanted or "/" in wanted:
        return wanted
    prefix = "provider-"
    known = [name for name in ModuleLoader().known() if name.startswith(prefix)]
    if f"{prefix}{wanted}" in known:
        return f"{prefix}{wanted}"
    names = sorted(name.removeprefix(prefix) for name in known)
    raise NoModel(f"No provider {wanted!r}; have {names}")


def _find_obstacle(entry: ModuleEntry, env: Mapping[str, str]) -> str | None:
    """Why a provider cannot answer, or None."""
    config, key = entry.config, KEYS.get(entry.module)
    if key and not (env.get(key) or config.get("api_key") or config.get("base_url")):
        return f"{entry.module} needs {key}"
    scripted = entry.module == "provider-scripted"
    if scripted and not (config.get("script") or config.get("script_file")):
        return "no key is set"
    return None
