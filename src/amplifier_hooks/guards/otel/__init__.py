"""hooks-otel: export sessions as OpenTelemetry traces and metrics.

Listens to  the events of sessions, turns, model calls, tools, hooks and approvals
Answers     continue
Configure   endpoint, headers, service_name, agent_name, capture_content, timeout, interval
"""

from __future__ import annotations

from amplifier_hooks.guards.otel.config import NAME, Config
from amplifier_hooks.guards.otel.module import mount

__all__ = ["NAME", "Config", "mount"]
