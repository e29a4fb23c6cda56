"""hooks-masking: hides secrets from every hook that runs after it, in every event there is."""

import re

from amplifier_core import HookResult
from amplifier_core.events import ALL_EVENTS

__amplifier_module_type__ = "hook"

SECRET = re.compile(r"sk-[0-9a-z]{6,}")
MASK = "[MASKED]"


def mask(value):
    if isinstance(value, str):
        return SECRET.sub(MASK, value)
    if isinstance(value, dict):
        return {key: mask(one) for key, one in value.items()}
    if isinstance(value, list):
        return [mask(one) for one in value]
    return value


async def handle(event, data):
    masked = mask(data)
    if masked == data:
        return HookResult(action="continue")
    return HookResult(action="modify", data=masked)


UNDO: dict[int, list] = {}


async def mount(coordinator, config=None):
    def cleanup():
        for undo in UNDO.pop(id(coordinator), []):
            undo()

    return cleanup


async def on_session_ready(coordinator):
    UNDO[id(coordinator)] = [
        coordinator.hooks.register(event=event, handler=handle, priority=10, name="hooks-masking")
        for event in ALL_EVENTS
    ]
