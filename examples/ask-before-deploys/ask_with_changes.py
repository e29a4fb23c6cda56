"""Ask before a deployment, and say which commits would go out.

Listens to  tool:pre
Answers     ask_user, or continue
"""

from pathlib import Path
from typing import Any

from amplifier_core import HookResult, hook
from amplifier_hooks.guards.bash import is_harmless, list_all_commands
from amplifier_hooks.sandbox.process import run_command


@hook("tool:pre", on_error="deny", timeout=30)
async def ask_with_changes(event: str, data: dict[str, Any]) -> HookResult:
    """A command that cannot be read raises here, and a guard that raises denies."""
    command = data["tool_input"].get("command", "")
    if data["tool_name"] != "Bash" or not deploys(command):
        return HookResult(action="continue")
    return HookResult(
        action="ask_user",
        approval_prompt=f"Deploy with {command!r}? It would bring\n{await list_commits()}",
        approval_options=["Allow once", "Deny"],
        approval_timeout=900,
    )


def deploys(command: str) -> bool:
    """Whether a program or a word in it says so, unless it only looks: `cat deploy.sh`."""
    return any(
        "deploy" in (text or "deploy")  # None: only running it would tell
        for one in list_all_commands(command)
        if not is_harmless(one)
        for text in (one.program, *(word.value for word in one.arguments))
    )


async def list_commits() -> str:
    """What is new since the tag `deployed`; the last ten commits if there is no such tag."""
    here = Path(__file__).parent  # the process may run elsewhere
    for since in (["deployed..HEAD"], ["-10"]):
        log = await run_command(["git", "log", "--oneline", *since], cwd=here, timeout=10)
        if log.returncode == 0:
            return log.stdout.strip() or "no new commits"
    return f"an unknown state: {log.stderr.strip()}"
