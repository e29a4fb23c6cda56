"""Questions about the resident process itself: how it is, and that it may end."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

from amplifier_hooks.coding_agents.client.client import VERSION
from amplifier_hooks.coding_agents.daemon.desk import Desk
from amplifier_hooks.coding_agents.daemon.request import Response


class Controls:
    """Answers `status` and `stop`."""

    def __init__(self, desk: Desk, describe_http: Callable[[], dict[str, Any] | None]) -> None:
        self._desk = desk
        self._describe_http = describe_http

    def answer(self, event: str) -> Response:
        """Do what is asked; both answer with the state of the process as JSON."""
        if event not in {"status", "stop"}:
            return Response(2, b"", f"amplifier: there is no control {event!r}\n".encode())
        facts = {
            "version": VERSION,
            "pid": os.getpid(),
            "uptime": round(time.monotonic() - self._desk.lifetime.started, 3),
            "sessions": self._desk.judge.count_sessions(),
            "open": self._desk.count_open(),
            "ending": self._desk.lifetime.ending,
            "http": self._describe_http(),
            "alarms": self._desk.judge.list_alarms(),
        }
        if event == "stop":
            self._desk.lifetime.end("it was told to")
        return Response(0, json.dumps(facts).encode() + b"\n")
