"""Doubles for tests of hooks, tools and loops. They behave; some also tell how they were called."""

from amplifier_core import only_kernel as only_kernel
from amplifier_core.testing.audit import MemoryAudit
from amplifier_core.testing.context import MemoryContext, MockContextManager
from amplifier_core.testing.coordinator import (
    MockCoordinator,
    TestCoordinator,
    create_test_coordinator,
)
from amplifier_core.testing.loop import ScriptedLoop, ScriptedOrchestrator
from amplifier_core.testing.person import RecordingDisplay, ScriptedApproval
from amplifier_core.testing.provider import MockProvider
from amplifier_core.testing.recorder import EventRecorder
from amplifier_core.testing.tool import MockTool
from amplifier_core.testing.waiting import wait_for

__all__ = [
    "EventRecorder",
    "MemoryAudit",
    "MemoryContext",
    "MockContextManager",
    "MockCoordinator",
    "MockProvider",
    "MockTool",
    "RecordingDisplay",
    "ScriptedApproval",
    "ScriptedLoop",
    "ScriptedOrchestrator",
    "TestCoordinator",
    "create_test_coordinator",
    "wait_for",
]
