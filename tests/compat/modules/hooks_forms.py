"""All ways in which modules register and answer."""

from amplifier_core.models import HookResult

CALLED: list[str] = []


class Policy:
    """Bound methods and callable objects."""

    async def on_pre(self, event, data):
        CALLED.append("bound method")
        return {"action": "continue"}

    def __call__(self, event, data):
        CALLED.append("object")
        return


def plain(event, data):
    CALLED.append("plain function")
    return HookResult(action="continue", surprising_new_field=3)  # type: ignore[call-arg]


async def silent(event, data):
    CALLED.append("async, None")


async def several(event, data):
    CALLED.append("several injections")
    return HookResult(
        action="inject_context",
        context_injections=[
            {"content": "first remark", "role": "user", "hook_name": "forms", "event": event},  # type: ignore[list-item]
            {"content": "second remark", "ephemeral": True, "append_to_last_tool_result": True},  # type: ignore[list-item]
        ],
        user_message="two remarks were made",
        user_message_source="remarks",
    )


async def mount(coordinator, config):
    policy = Policy()
    hooks = coordinator.hooks
    hooks.register("tool:pre", policy.on_pre, 5, "forms-bound")
    hooks.register("tool:pre", policy, priority=6)
    hooks.register("tool:pre", plain, name="forms-plain", priority=7)
    hooks.on("tool:pre", silent, name="forms-silent", priority=8)
    hooks.on("tool:post", several, priority=1, name="forms-several")
    hooks.register("tool:pre", policy.on_pre, 9, "to-be-removed")
    hooks.unregister("to-be-removed")
    hooks.set_default_fields(
        session_id=coordinator.session_id, parent_id=coordinator.parent_id, app="compat"
    )

    def cleanup():
        hooks.unregister_by_name("forms-bound")

    return cleanup
