"""tool-helper: gives a task to a session of its own, with what the application offers for that."""

from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"


class HelperTool:
    name = "helper"
    description = "Have a task done by a helper."
    input_schema = {"type": "object", "properties": {"task": {"type": "string"}}}

    def __init__(self, coordinator):
        self.coordinator = coordinator

    async def execute(self, input):
        spawn = self.coordinator.get_capability("session.spawn")
        if spawn is None:
            return ToolResult(success=False, error={"message": "No helper can be started"})
        depth = self.coordinator.get_capability("self_delegation_depth") or 0
        if depth > 0:
            return ToolResult(success=False, error={"message": "A helper has no helpers"})
        result = await spawn(
            task=input.get("task", ""),
            parent_session=self.coordinator.session,
            self_delegation_depth=depth + 1,
        )
        return ToolResult(success=True, output=result)


async def mount(coordinator, config=None):
    await coordinator.mount("tools", HelperTool(coordinator), name="helper")
