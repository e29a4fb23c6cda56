"""The commands that hooks-shell would run at a tool call, found without running any."""

from __future__ import annotations

from typing import Any

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Host
from amplifier_core.mount_plan import ModuleEntry
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.coding_agents.shell_hooks.module import read_all
from amplifier_hooks.coding_agents.shell_hooks.selector import Selector
from amplifier_hooks.modules.options import parse_config


def find_commands(
    entry: ModuleEntry, material: Material, host: Host, data: dict[str, Any]
) -> list[str]:
    """What would be run before this call could go on; ModuleLoadError for wrong options."""
    options = parse_config(Config, entry.config, NAME)
    base = options.find_base(str(material.folder))
    settings = read_all(options, base, material.snapshot)
    chosen = Selector(host, options, settings.handlers).select(TOOL_PRE, data)
    return [handler.label for handler, _ in chosen if not handler.background]
