"""A tool module: mounts under a name, keeps state on the coordinator, wants to know the end."""

from amplifier_core import ToolResult


class ShellTool:
    name = "shell"
    description = "Pretends to run a command"
    input_schema = {"type": "object", "properties": {"command": {"type": "string"}}}

    def __init__(self, coordinator, config):
        self.coordinator = coordinator
        self.directory = coordinator.get_capability("session.working_dir") or "."

    async def execute(self, input):
        if not input.get("command"):
            return ToolResult(success=False, error={"message": "a command is needed"})
        self.coordinator.todo_state.append(
            {"content": input["command"], "status": "completed", "activeForm": "running"}
        )
        await self.coordinator.hooks.emit("shell:ran", {"command": input["command"]})
        return ToolResult(success=True, output={"stdout": f"{self.directory}: ran"})


READY: list[object] = []


async def mount(coordinator, config=None):
    coordinator.todo_state = []
    tool = ShellTool(coordinator, config or {})
    await coordinator.mount("tools", tool, name="shell")
    coordinator.register_cleanup(lambda: READY.append("cleaned"))
    return


async def on_session_ready(coordinator):
    READY.append(sorted(coordinator.get("tools")))
