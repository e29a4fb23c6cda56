"""hooks-journal: writes every event of a session as a line of JSON.

Which events there are is known only when every module is mounted, so it registers then.
"""

import json
from pathlib import Path

from amplifier_core import HookResult
from amplifier_core.events import ALL_EVENTS

__amplifier_module_type__ = "hook"


class Journal:
    def __init__(self, path):
        self.path = Path(path)
        self.undo = []

    async def __call__(self, event, data):
        line = {"event": event, "data": data}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=str) + "\n")
        return HookResult(action="continue")

    def close(self):
        for undo in self.undo:
            undo()


async def mount(coordinator, config=None):
    journal = Journal((config or {})["path"])
    coordinator.register_capability("journal", journal)
    return journal.close


async def on_session_ready(coordinator):
    journal = coordinator.get_capability("journal")
    events = list(ALL_EVENTS)
    events += coordinator.get_capability("observability.events") or []
    for contributed in await coordinator.collect_contributions("observability.events"):
        events += contributed
    for event in dict.fromkeys(events):
        journal.undo.append(
            coordinator.hooks.register(event, journal, priority=100, name="hooks-journal")
        )
