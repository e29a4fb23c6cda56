"""Modules as authors of the ecosystem write them, one of each kind."""

from __future__ import annotations

HOOK = '''
"""Counts events."""
from amplifier_core import HookResult, ModuleCoordinator

__amplifier_module_type__ = "hook"

async def mount(coordinator: ModuleCoordinator, config: dict | None = None):
    seen = []

    async def on_event(event: str, data: dict) -> HookResult:
        seen.append(event)
        return HookResult(action="continue")

    undo = [
        coordinator.hooks.register(event, on_event, priority=10, name="count")
        for event in ("test:event", "tool:pre")
    ]

    def cleanup():
        for one in undo:
            one()

    return cleanup

async def on_session_ready(coordinator):
    pass
'''
TOOL = '''
"""Reads a file."""
from amplifier_core import ToolResult

__amplifier_module_type__ = "tool"

class ReadTool:
    name = "read"
    description = "Read a file."

    @property
    def input_schema(self):
        return {"type": "object", "properties": {"path": {"type": "string"}}}

    async def execute(self, input):
        path = input.get("path")
        if not path:
            error = {"message": "path is required", "code": "missing"}
            return ToolResult(success=False, error=error)
        return ToolResult(success=True, output=open(path).read())

async def mount(coordinator, config=None):
    await coordinator.mount("tools", ReadTool(), name="read")

    async def cleanup():
        await coordinator.unmount("tools", name="read")

    return cleanup
'''
PROVIDER = '''
"""Echoes."""
from amplifier_core import ChatResponse, ModelInfo, ProviderInfo, TextBlock

__amplifier_module_type__ = "provider"

class EchoProvider:
    name = "echo"

    def get_info(self):
        return ProviderInfo(id="echo", display_name="Echo", defaults={"context_window": 1000})

    async def list_models(self):
        return [ModelInfo(id="e", display_name="E", context_window=1000, max_output_tokens=100)]

    async def complete(self, request, **kwargs):
        return ChatResponse(content=[TextBlock(text=str(request.messages[-1].content))])

    def parse_tool_calls(self, response):
        return response.tool_calls or []

async def mount(coordinator, config=None):
    await coordinator.mount("providers", EchoProvider(), name="echo")
'''
ORCHESTRATOR = '''
"""One request a turn."""
from amplifier_core import ChatRequest, HookResult, Message

__amplifier_module_type__ = "orchestrator"

class OneShot:
    async def execute(self, prompt, context, providers, tools, hooks, coordinator=None, **kwargs):
        result = await hooks.emit("prompt:submit", {"prompt": prompt})
        if coordinator:
            result = await coordinator.process_hook_result(result, "prompt:submit", "orchestrator")
        if result.action == "deny":
            return f"Operation denied: {result.reason}"
        await context.add_message({"role": "user", "content": prompt})
        provider = next(iter(providers.values()))
        messages = await context.get_messages_for_request(provider=provider)
        request = ChatRequest(messages=[Message(**message) for message in messages])
        response = await provider.complete(request)
        text = "".join(block.text for block in response.content if block.type == "text")
        await context.add_message({"role": "assistant", "content": text})
        await hooks.emit("prompt:complete", {"prompt": prompt, "response": text})
        return text

async def mount(coordinator, config=None):
    await coordinator.mount("orchestrator", OneShot())
'''
CONTEXT = '''
"""A list."""
__amplifier_module_type__ = "context"

class ListContext:
    def __init__(self):
        self.messages = []

    async def add_message(self, message):
        self.messages.append(message)

    async def get_messages(self):
        return list(self.messages)

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return list(self.messages)

    async def set_messages(self, messages):
        self.messages = list(messages)

    async def clear(self):
        self.messages = []

async def mount(coordinator, config=None):
    await coordinator.mount("context", ListContext())
'''
MODULES = {
    "hooks_count": ("Hook", HOOK, 7),
    "tool_read": ("Tool", TOOL, 7),
    "provider_echo": ("Provider", PROVIDER, 5),
    "loop_once": ("Orchestrator", ORCHESTRATOR, 6),
    "context_list": ("Context", CONTEXT, 10),
}
KINDS = {kind: text for kind, text, _ in MODULES.values()}
