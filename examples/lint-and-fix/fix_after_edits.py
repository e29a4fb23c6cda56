"""Let ruff correct and format each Python file that the agent wrote, and tell the agent.

Listens to  tool:post
Answers     inject_context, or continue
"""

import sys
from pathlib import Path
from typing import Any

from amplifier_core import HookResult, hook
from amplifier_hooks.sandbox.process import run_command


# 40: before hooks-linter-feedback, which then reports only what is left.
@hook("tool:post", priority=40, timeout=90)
async def fix_after_edits(event: str, data: dict[str, Any]) -> HookResult:
    """The agent has to read the file again, or its next edit would not fit."""
    # Relative to this file, which is in the folder of the agent: the process may run elsewhere.
    path = Path(__file__).parent / data["tool_input"].get("file_path", "")
    edited = data["tool_name"] in {"Write", "Edit", "MultiEdit"} and path.suffix == ".py"
    if not edited or not path.is_file():
        return HookResult(action="continue")
    before = path.read_bytes()
    for order in (["check", "--fix-only"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *order, "--quiet", str(path)]
        done = await run_command(ruff, timeout=30)
        if done.returncode:
            return HookResult(user_message=f"ruff failed: {done.stderr.strip()}")
    if path.read_bytes() == before:
        return HookResult(action="continue")
    return HookResult(
        action="inject_context",
        context_injection=f"ruff has corrected {path.name}. Read it before you edit it again.",
        user_message=f"ruff has corrected {path.name}",
    )
