"""Hook modules in files, for sessions that are opened from a bundle."""

GUARD = """
from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    if "forbidden" in str(data["tool_input"]):
        return HookResult(action="deny", reason="forbidden words")
    return HookResult()
"""

ASKING = """
from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    return HookResult(action="ask_user", approval_prompt="may it?", approval_timeout=30)
"""

COUNTER = """
from amplifier_core.models import HookResult

async def mount(coordinator, config):
    seen = []
    async def count(event, data):
        seen.append(data["prompt"])
        return HookResult(user_message=f"{config['word']} {len(seen)}")
    return coordinator.hooks.register("prompt:submit", count, name=config["word"])
"""
