"""A resident process for tests: `python guest_resident.py FOLDER`, with a judge that plays along.

The judge does what the event's payload says: {"sleep": s, "block": s, "raise": text, "size": n,
"crash": true, "code": n}, and otherwise answers with a few facts about the request.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.daemon.protocol import Request, Response
from amplifier_hooks.coding_agents.daemon.server import run_resident


class PlayedJudge:
    """Obeys the payload, and writes down what it was asked."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self.closed = False
        self.asked: list[Request] = []
        self.finished = 0
        self.held = False

    async def answer(self, request: Request) -> Response:
        """Do what the payload says."""
        self.asked.append(request)
        orders = _read_orders(request.payload)
        await asyncio.sleep(orders.get("sleep", 0))
        time.sleep(orders.get("block", 0))
        if "raise" in orders:
            raise RuntimeError(orders["raise"])
        if orders.get("crash"):
            os._exit(9)
        self.finished += 1
        if "size" in orders:
            return Response(orders.get("code", 0), b"x" * orders["size"], b"")
        facts = {
            "pid": os.getpid(),
            "agent": request.agent,
            "event": request.event,
            "size": len(request.payload),
            "cwd": request.cwd,
            "bundle": request.bundle,
            "marks": sorted(request.marks),
        }
        return Response(orders.get("code", 0), json.dumps(facts).encode() + b"\n", b"")

    async def close(self) -> None:
        """Leave a note that it was closed."""
        self.closed = True
        if self._folder is not None:
            with (self._folder / "closed").open("a") as file:
                file.write(f"{os.getpid()}\n")

    def count_sessions(self) -> int:
        """One for each agent that asked."""
        return len({request.agent for request in self.asked})

    def list_alarms(self) -> list[str]:
        """None."""
        return []

    def holds_open(self) -> bool:
        """As a test says."""
        return self.held


def _read_orders(payload: bytes) -> dict[str, Any]:
    try:
        orders = json.loads(payload)
    except ValueError:
        return {}
    return orders if isinstance(orders, dict) else {}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    sys.exit(run_resident(place, lambda: PlayedJudge(place)))
