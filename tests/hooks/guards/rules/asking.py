"""Rules that are asked about one event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from amplifier_core.models import HookResult
from tests.support.harness import Harness

DENY = {"action": "deny", "reason": "no"}


async def answer(
    directory: Path, rules: str | list[dict[str, Any]], tool: str, tool_input: Any, **config: Any
) -> HookResult:
    """What the rules answer to one tool call."""
    harness = Harness(directory)
    entries = yaml.safe_load(rules) if isinstance(rules, str) else rules
    await harness.mount("rules", {"rules": entries, **config})
    return await harness.answer(tool, tool_input)
