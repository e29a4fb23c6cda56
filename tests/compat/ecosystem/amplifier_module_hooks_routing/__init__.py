"""hooks-routing: looks at mount time who could answer, and what is known, and offers its choice."""

from amplifier_core import HookResult

__amplifier_module_type__ = "hook"


async def mount(coordinator, config=None):
    providers = coordinator.get("providers") or {}
    choice = {
        "providers": sorted(providers),
        "models": [
            model.id for provider in providers.values() for model in await provider.list_models()
        ],
        "tools": sorted(coordinator.get("tools") or {}),
        "memory": coordinator.get_capability("memory.store") is not None,
        "loop": coordinator.get("orchestrator") is not None,
        "context": coordinator.get("context") is not None,
    }
    coordinator.register_capability("session.routing", choice)

    async def on_start(event, data):
        choice["started"] = data.get("session_id")
        return HookResult()

    coordinator.hooks.register("session:start", on_start, name="hooks-routing")
