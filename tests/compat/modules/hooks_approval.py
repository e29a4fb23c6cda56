"""An approval module: takes a provider by capability, asks it itself, denies or goes on."""

from amplifier_core.interfaces import ApprovalRequest, ApprovalResponse
from amplifier_core.models import HookResult


class ApprovalHook:
    def __init__(self, config):
        self.provider = None
        self.remembered = {}
        self.patterns = config.get("patterns", ["rm "])

    def register_provider(self, provider):
        self.provider = provider

    async def handle(self, event, data):
        command = str((data.get("tool_input") or {}).get("command", ""))
        if not any(pattern in command for pattern in self.patterns):
            return HookResult(action="continue")
        if self.provider is None:
            return HookResult(action="deny", reason="nobody can be asked")
        request = ApprovalRequest(
            tool_name=data["tool_name"],
            action=f"run {command}",
            details={"command": command},
            risk_level="high",
            timeout=5.0,
        )
        response = await self.provider.request_approval(request)
        assert isinstance(response, ApprovalResponse)
        if response.approved:
            return HookResult(action="continue")
        return HookResult(action="deny", reason=response.reason or "not approved")


async def mount(coordinator, config=None):
    hook = ApprovalHook(config or {})
    unregister = coordinator.hooks.register(
        "tool:pre", hook.handle, priority=-10, name="approval_hook"
    )
    coordinator.register_capability("approval.register_provider", hook.register_provider)
    coordinator.register_contributor(
        "observability.events",
        "approval",
        lambda: ["approval:asked_provider", "approval:answered"],
    )
    return unregister
