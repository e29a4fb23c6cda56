"""The presenter for a bundle: what its sessions would mask is masked here, and all we know of."""

from __future__ import annotations

from functools import lru_cache

from pydantic import ValidationError

from amplifier_core.errors import AmplifierError
from amplifier_core.mount_plan import MountPlan
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.guards.policy.patterns import PatternError
from amplifier_hooks.guards.policy.secrets import Redactor
from amplifier_hooks.guards.redaction.config import NAME, Config
from amplifier_hooks.guards.redaction.module import collect_shapes
from amplifier_hooks.mcp.server.presenting import Presenter

_OWNER = "amplifier mcp server"


def build_presenter(bundle: Bundle | None) -> Presenter:
    """Masks all shapes of secrets, those that the bundle adds, and the values that it refers to."""
    if bundle is None:
        return Presenter(_build_redactor(Config()))
    plan = MountPlan.parse(bundle.mount_plan)
    configured = [one.config for one in plan.hooks if one.module == NAME]
    try:
        config = Config.model_validate(configured[0]) if configured else Config()
        redactor = _build_redactor(config)
    except (ValidationError, AmplifierError, PatternError):  # then no session starts with it
        redactor = _build_redactor(Config())
    return Presenter(redactor, bundle.secrets)


def _build_redactor(config: Config) -> Redactor:
    # What a bundle switches off, its own agent may see; here others ask.
    shapes = collect_shapes(config.model_copy(update={"off": []}))
    return _compile(tuple(shapes.items()), tuple(config.allow))


@lru_cache(maxsize=4)
def _compile(shapes: tuple[tuple[str, str], ...], allow: tuple[str, ...]) -> Redactor:
    """Most changes of a bundle are about something else."""
    return Redactor(dict(shapes), _OWNER, "[REDACTED:{name}]", allow)
