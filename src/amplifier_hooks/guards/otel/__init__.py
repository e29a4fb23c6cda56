"""hooks-otel: export sessions as OpenTelemetry traces and metrics.

Listens to  the events of sessions, turns, model calls, tools, hooks and approvals
Answers     continue
Configure   endpoint, headers, service_name, agent_name, capture_content, timeout, interval
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.guards.otel.pipeline import Target, acquire, release
from amplifier_hooks.guards.otel.telemetry import NAME, Config, Telemetry
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import subscribe

_FLUSH_SECONDS = 5.0
_FIRST = -1000
_LAST = 1000
logger = logging.getLogger(__name__)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen; clean-up ends the open spans and sends what is waiting."""
    settings = await parse_known(coordinator, Config, config, NAME)
    target = Target(
        settings.endpoint,
        tuple(sorted(settings.headers.items())),
        settings.service_name,
        settings.timeout,
        settings.interval,
    )
    pipeline = await asyncio.to_thread(acquire, target)
    telemetry = Telemetry(coordinator, settings, pipeline)
    removals = [
        subscribe(
            coordinator, NAME, _FIRST, [(event, telemetry.on_first) for event in telemetry.first]
        ),
        subscribe(
            coordinator, NAME, _LAST, [(event, telemetry.on_last) for event in telemetry.last]
        ),
    ]

    async def cleanup() -> None:
        for remove in removals:
            remove()
        telemetry.tree.close()
        try:
            async with asyncio.timeout(_FLUSH_SECONDS):
                await asyncio.to_thread(release, pipeline, _FLUSH_SECONDS)
        except TimeoutError:
            logger.warning("%s gave up its last spans: the collector did not answer", NAME)

    return cleanup
