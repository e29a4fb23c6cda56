"""The agents that can be guarded, by the names of their commands; cheap to import.

To add one: a module here, a dialect, and what may start it in `guards/policy/agent_programs`.
"""

from __future__ import annotations

from collections.abc import Mapping

from amplifier_hooks.coding_agents.known import claude, codex, copilot, cursor, gemini, opencode
from amplifier_hooks.coding_agents.known.agent import KnownAgent

_MODULES = (claude, codex, gemini, copilot, cursor, opencode)
KNOWN: Mapping[str, KnownAgent] = {module.AGENT.name: module.AGENT for module in _MODULES}
TITLES: Mapping[str, str] = {name: one.title for name, one in KNOWN.items()}
