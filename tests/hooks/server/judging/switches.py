"""What the hooks of a judged session share with the test that runs in the same process."""

from __future__ import annotations

import asyncio
from collections import Counter

heard: Counter[str] = Counter()
"""How often each event was judged, by its name and, of a call, its id."""

gates: dict[str, asyncio.Event] = {}
"""Calls of the tool Slow wait here, by their id."""


def reset() -> None:
    """As if nothing had happened."""
    heard.clear()
    gates.clear()
