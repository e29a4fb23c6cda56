"""Write every event to a file, one JSON line each.

Listens to  everything (a pattern)
Answers     nothing, so the agent goes on
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from amplifier_core import HookRegistry
from amplifier_core.interfaces import hook

LOG = Path(tempfile.gettempdir(), "agent-events.jsonl")


# After all others, so that it sees what they have left of the data.
@hook("*", priority=1000)
async def write_a_log(event: str, data: dict[str, Any]) -> None:
    """A hook that returns nothing says continue. What JSON cannot hold is written as text."""
    line = json.dumps({"event": event, **data}, default=str, sort_keys=True)
    with LOG.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


async def main() -> None:
    """Tell of three events and read the log."""
    LOG.unlink(missing_ok=True)
    hooks = HookRegistry()
    hooks.register("*", write_a_log)
    await hooks.emit("prompt:submit", {"prompt": "hello"})
    await hooks.emit("tool:pre", {"tool_name": "Read", "tool_input": {"file_path": "a.txt"}})
    await hooks.emit("deploy:done", {"place": Path("staging")})
    for line in LOG.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        print(record["event"], sorted(record))
    LOG.unlink()


if __name__ == "__main__":
    asyncio.run(main())
