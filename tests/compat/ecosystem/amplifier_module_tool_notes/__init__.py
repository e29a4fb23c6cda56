"""tool-notes: keeps notes for the agent, and offers them to others as `memory.store`."""

from amplifier_core import ToolResult

from .store import NoteStore

__amplifier_module_type__ = "tool"


class NotesTool:
    def __init__(self, store, coordinator):
        self.store = store
        self.coordinator = coordinator

    @property
    def name(self):
        return "notes"

    @property
    def description(self):
        return "Add, read and delete notes."

    @property
    def input_schema(self):
        return {
            "type": "object",
            "properties": {
                "operation": {"type": "string", "enum": ["add", "read", "delete"]},
                "text": {"type": "string"},
                "number": {"type": "integer"},
            },
            "required": ["operation"],
        }

    async def execute(self, input):
        operation = input.get("operation")
        if operation == "add":
            number = self.store.add(input.get("text", ""))
            await self.coordinator.hooks.emit("notes:added", {"number": number})
            return ToolResult(success=True, output={"number": number})
        number = input.get("number")
        if number not in self.store.notes:
            return ToolResult(
                success=False,
                error={
                    "message": f"There is no note {number}",
                    "code": "not_found",
                    "available": sorted(self.store.notes),
                },
            )
        if operation == "delete":
            return ToolResult(success=True, output=self.store.notes.pop(number))
        return ToolResult(success=True, output=self.store.notes[number])


async def mount(coordinator, config=None):
    store = NoteStore(coordinator.get_capability("session.working_dir"))
    await coordinator.mount("tools", NotesTool(store, coordinator), name="notes")
    coordinator.register_capability("memory.store", store)

    events = coordinator.get_capability("observability.events") or []
    events.append("notes:added")
    coordinator.register_capability("observability.events", events)
    coordinator.register_contributor("session.cost", "tool-notes", lambda: {"cost_usd": "0.01"})

    async def cleanup():
        store.closed = True

    return cleanup
