"""Check each Python file right after the agent wrote it, and tell the agent what is wrong.

Listens to  tool:post
Answers     inject_context, or continue
"""

import ast
import asyncio
import tempfile
from pathlib import Path
from typing import Any

from amplifier_core import HookRegistry, HookResult
from amplifier_core.interfaces import hook


@hook("tool:post", priority=50)
async def lint_after_edits(event: str, data: dict[str, Any]) -> HookResult:
    """The agent reads the finding before its next step, so it can correct itself in this turn."""
    path = Path(data.get("tool_input", {}).get("file_path", ""))
    if data.get("tool_name") not in {"Write", "Edit"} or path.suffix != ".py":
        return HookResult(action="continue")
    try:
        ast.parse(path.read_text(encoding="utf-8"))
    except OSError:
        return HookResult(action="continue")  # it is not there, so there is nothing to say
    except SyntaxError as error:
        found = f"{path.name} does not parse: line {error.lineno}: {error.msg}"
        return HookResult(
            action="inject_context",
            context_injection=f"{found}. Correct it before you go on.",
            user_message=found,
            user_message_level="warning",
        )
    return HookResult(action="continue")


async def main() -> None:
    """Write a file with a mistake, then without."""
    hooks = HookRegistry()
    hooks.register("tool:post", lint_after_edits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "greeting.py")
        for text in ("def greet(:\n    pass\n", "def greet():\n    pass\n"):
            path.write_text(text, encoding="utf-8")
            call = {"tool_name": "Write", "tool_input": {"file_path": str(path)}}
            answer = await hooks.emit("tool:post", call)
            print(f"{answer.action}: {answer.context_injection}")


if __name__ == "__main__":
    asyncio.run(main())
