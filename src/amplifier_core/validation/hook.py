"""Whether a hook module keeps its contract: it registers, answers and goes away."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from amplifier_core.events import ALL_EVENTS
from amplifier_core.hooks import HookHandler
from amplifier_core.testing import TestCoordinator
from amplifier_core.utils import PATIENCE, describe_error
from amplifier_core.validation.module import ModuleValidator
from amplifier_core.validation.report import ValidationResult
from amplifier_core.validation.samples import sample_payload


class HookValidator(ModuleValidator):
    """Registers at least one hook, and each answers every event it listens to."""

    kind: ClassVar[str] = "hook"

    async def check(self, coordinator: TestCoordinator, result: ValidationResult) -> None:
        """Send each hook a sample of each event it hears."""
        heard = {
            event: coordinator.hooks.handlers_for(event) for event in dict.fromkeys(ALL_EVENTS)
        }
        some = any(heard.values())
        result.add("registers a hook", some, "nothing was registered with coordinator.hooks")
        for event, handlers in heard.items():
            for handler in handlers:
                await self._check_answer(handler, event, result)

    async def _check_answer(
        self, handler: HookHandler, event: str, result: ValidationResult
    ) -> None:
        name = f"{handler.name} answers {event}"
        try:
            async with asyncio.timeout(PATIENCE):
                await handler.execute(event, sample_payload(event))
        except Exception as error:  # noqa: BLE001 - whatever a hook raises is the finding
            result.add(name, False, describe_error(error))
            return
        result.add(name, True)
