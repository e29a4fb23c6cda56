"""Whether a hook module keeps its contract: it registers, answers and goes away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from amplifier_core.events import ALL_EVENTS
from amplifier_core.hooks import HookHandler
from amplifier_core.utils import PATIENCE, describe_error
from amplifier_core.validation.base import ValidationResult
from amplifier_core.validation.module import COMPLIANCE, ModuleValidator
from amplifier_core.validation.samples import sample_payload

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator


class HookValidator(ModuleValidator):
    """Mounts; a thorough check also wants a hook, and an answer to every event that it hears."""

    kind = "hook"

    def check_protocol(
        self, coordinator: MockCoordinator, undo: Any, result: ValidationResult
    ) -> None:
        """Whatever a module registers, at whatever time, is its own affair."""
        names = {name for found in coordinator.hooks.list_handlers().values() for name in found}
        result.check(COMPLIANCE, True, f"The module mounts and registers {len(names)} hooks")

    async def try_out(self, coordinator: MockCoordinator, result: ValidationResult) -> None:
        """Send each hook a sample of each event it hears."""
        heard = {
            event: coordinator.hooks.handlers_for(event) for event in dict.fromkeys(ALL_EVENTS)
        }
        wrong = "nothing was registered with coordinator.hooks"
        result.check("hook_registered", any(heard.values()), "The module registers hooks", wrong)
        for event, handlers in heard.items():
            for handler in handlers:
                await self._check_answer(handler, event, result)

    async def _check_answer(
        self, handler: HookHandler, event: str, result: ValidationResult
    ) -> None:
        failure = ""
        try:
            async with asyncio.timeout(PATIENCE):
                await handler.execute(event, sample_payload(event))
        except Exception as error:  # noqa: BLE001 - whatever a hook raises is the finding
            failure = describe_error(error)
        done = f"{handler.name} answers {event}"
        result.check("hook_answers", not failure, done, f"{handler.name}, {event}: {failure}")
