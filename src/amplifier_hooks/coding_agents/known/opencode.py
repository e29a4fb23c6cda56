"""OpenCode, in which our hooks are a plugin that has the same lines as Codex."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.coding_agents.known.agent import (
    MOD,
    Extension,
    KnownAgent,
    Mode,
    Place,
    Surroundings,
)
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


def _list_extensions(around: Surroundings) -> Iterator[Extension]:
    managed = around.etc / "opencode"
    patterns = [f"{name}/*.{ending}" for name in ("plugin", "plugins") for ending in ("js", "ts")]
    folders = (around.home, around.root / ".opencode", managed)
    for path in (one for folder in folders for name in patterns for one in folder.glob(name)):
        if path not in around.ours:
            yield Extension("plugin", path.name, path, MOD)
    for config in (around.home, around.root, managed):
        for file in (config / "opencode.json", config / "opencode.jsonc"):
            for name in around.read(file).get("plugin") or ():
                yield Extension("plugin", str(name), file, MOD)


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
    is_plugin=True,
    list_extensions=_list_extensions,
)
