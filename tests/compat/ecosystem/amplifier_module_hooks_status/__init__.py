"""hooks-status: tells the agent at each request how things stand, for that request only."""

from amplifier_core import HookResult
from amplifier_core.events import PROVIDER_REQUEST, TOOL_POST

__amplifier_module_type__ = "hook"


class Status:
    def __init__(self, config):
        self.role = config.get("role", "user")
        self.append = config.get("append_to_last_tool_result", False)
        self.requests = 0
        self.tools = 0

    async def on_request(self, event, data):
        self.requests += 1
        return self._inject(f"<status>request {self.requests}</status>")

    async def on_tool(self, event, data):
        self.tools += 1
        return self._inject(f"<reminder>tool call {self.tools}</reminder>")

    def _inject(self, text):
        return HookResult(
            action="inject_context",
            context_injection=text,
            context_injection_role=self.role,
            ephemeral=True,
            append_to_last_tool_result=self.append,
            suppress_output=True,
        )


async def mount(coordinator, config=None):
    config = config or {}
    status = Status(config)
    undo = [
        coordinator.hooks.register(
            PROVIDER_REQUEST, status.on_request, priority=50, name="hooks-status"
        )
    ]
    if config.get("after_tools"):
        undo.append(
            coordinator.hooks.register(TOOL_POST, status.on_tool, priority=50, name="hooks-status")
        )

    def cleanup():
        for one in undo:
            one()

    return cleanup
