"""hooks-gate: has some operations approved by a person, and forbids others."""

from amplifier_core import HookResult

__amplifier_module_type__ = "hook"


class Gate:
    def __init__(self, config):
        self.config = config

    async def __call__(self, event, data):
        operation = (data.get("tool_input") or {}).get("operation")
        if operation in self.config.get("deny", []):
            return HookResult(action="deny", reason=f"{operation} is forbidden")
        if operation in self.config.get("ask", []):
            return HookResult(
                action="ask_user",
                approval_prompt=f"Allow {operation} by {data['tool_name']}?",
                approval_options=self.config.get("options"),
                approval_timeout=self.config.get("timeout", 30.0),
                approval_default="deny",
                reason=f"{operation} cannot be undone",
            )
        return HookResult(action="continue")


async def mount(coordinator, config=None):
    return coordinator.hooks.register(
        "tool:pre", Gate(config or {}), priority=-10, name="hooks-gate"
    )
