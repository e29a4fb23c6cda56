"""The mount plan of a run: the bundle, with what the flags say on top."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from amplifier_core.errors import SessionError
from amplifier_core.mounting import ModuleLoader

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


def with_flags(plan: dict[str, Any], provider: str | None, model: str | None) -> dict[str, Any]:
    """The plan with the wanted provider and model; NoModel if there is nothing to talk to."""
    providers = [_entry(one) for one in plan.get("providers") or []]
    if provider:
        providers = [_chosen(providers, provider)]
    if model and providers:
        first, *others = providers
        providers = [{**first, "config": {**(first.get("config") or {}), "model": model}}, *others]
    changed = {**plan, "providers": providers}
    check_model(changed)
    return changed


def _entry(entry: Any) -> dict[str, Any]:
    return {"module": entry} if isinstance(entry, str) else dict(entry)


def _chosen(providers: list[dict[str, Any]], given: str) -> dict[str, Any]:
    """The bundle's own entry where it has one, with its settings; else the module as it is."""
    wanted = ALIASES.get(given, given)
    named = [one for one in providers if wanted in (one.get("module"), one.get("name"))]
    return named[0] if named else {"module": _module(wanted), "required": True}


def _module(wanted: str) -> str:
    """The module meant by an id, a path, or the short name of an installed provider."""
    if "-" in wanted or "/" in wanted:
        return wanted
    prefix = "provider-"
    known = [name for name in ModuleLoader().known() if name.startswith(prefix)]
    if f"{prefix}{wanted}" in known:
        return f"{prefix}{wanted}"
    names = sorted(name.removeprefix(prefix) for name in known)
    raise NoModel(f"No provider {wanted!r}; have {names}")


def check_model(plan: Mapping[str, Any], env: Mapping[str, str] | None = None) -> None:
    """Say in one sentence what to set when no provider could answer."""
    env = os.environ if env is None else env
    missing = [_missing(_entry(one), env) for one in plan.get("providers") or []]
    if missing and any(reason is None for reason in missing):
        return
    reasons = [reason for reason in missing if reason]
    why = reasons[0] if reasons else "The bundle names no provider"
    raise NoModel(f"No model to talk to: {why}. {WHAT_TO_DO}")


def _missing(entry: Mapping[str, Any], env: Mapping[str, str]) -> str | None:
    """Why a provider cannot answer, or None."""
    module, config = str(entry.get("module")), entry.get("config") or {}
    key = KEYS.get(module)
    if key and not (env.get(key) or config.get("api_key") or config.get("base_url")):
        return f"{module} needs {key}"
    if module == "provider-scripted" and not (config.get("script") or config.get("script_file")):
        return "no key is set"
    return None
