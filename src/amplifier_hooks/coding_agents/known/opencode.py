"""OpenCode, in which our hooks are a plugin that has the same lines as Codex."""

from __future__ import annotations

from amplifier_hooks.coding_agents.known.agent import KnownAgent, Mode, Place
from amplifier_hooks.coding_agents.known.codex import build_entry
from amplifier_hooks.machine.locations import find_config_home

_MODES = (
    Mode("opencode", "opencode run"),
    Mode("opencode", "opencode run --continue"),
    Mode("opencode", "opencode run --attach", note="with opencode serve, as opencode web"),
    Mode("opencode", "opencode acp", note="editors"),
    Mode(
        "opencode",
        "opencode, a command in a file of its commands",
        holds=False,
        note="`` !`…` `` runs before any hook is asked",
    ),
    Mode("opencode", "opencode --pure", holds=False, note="it loads no plugin"),
)

AGENT = KnownAgent(
    "opencode",
    "OpenCode",
    Place(
        lambda env: find_config_home(env) / "opencode",
        ("plugin/amplifier.js", "opencode.json", "opencode.jsonc"),
        (".opencode/plugin/amplifier.js", "opencode.json", "opencode.jsonc"),
        (),  # a project has no switch there that a person's plugin would have to fear
    ),
    build_entry,
    _MODES,
)
