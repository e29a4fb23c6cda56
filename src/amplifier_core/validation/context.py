"""Whether a module that mounts a conversation keeps its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_core.utils import resolve
from amplifier_core.validation.base import ValidationResult
from amplifier_core.validation.module import PartValidator

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator


class ContextValidator(PartValidator):
    """Mounts a conversation."""

    kind = "context"
    interface = "ContextManager"
    mount_point = "context"
    members = ("add_message", "get_messages", "get_messages_for_request", "set_messages", "clear")

    async def try_out(self, coordinator: MockCoordinator, result: ValidationResult) -> None:
        """Add a message and look for it."""
        for name, context in self.list_parts(coordinator).items():
            await resolve(context.add_message({"role": "user", "content": "sample"}))
            found = await resolve(context.get_messages())
            kept = bool(found) and found[-1].get("content") == "sample"
            wrong = f"Context '{name}' was given a message and has {found!r}"
            result.check("context_keeps_messages", kept, f"Context '{name}' keeps messages", wrong)
