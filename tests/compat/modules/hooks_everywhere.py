"""A logging module of the ecosystem: one name over every event, one handler, undone by one list."""

from amplifier_core.events import ALL_EVENTS
from amplifier_core.models import HookResult

LINES: list[object] = []


async def mount(coordinator, config=None):
    config = config or {}
    assert not hasattr(coordinator, "emit")
    assert not hasattr(coordinator, "session_dir")

    async def handler(event, data):
        LINES.append((event, data.get("session_id")))
        data["seen_by"] = "hooks-everywhere"  # some modules write into what they are given
        return HookResult(action="continue")

    discovered = await coordinator.collect_contributions("observability.events")
    extra = [name for names in discovered for name in names]
    also = coordinator.get_capability("observability.events") or []
    unregister = [
        coordinator.hooks.register(
            event=event, handler=handler, priority=config.get("priority", 100), name="everywhere"
        )
        for event in dict.fromkeys([*ALL_EVENTS, *extra, *also])
    ]

    def cleanup():
        for one in unregister:
            one()

    return cleanup
