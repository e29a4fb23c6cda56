"""Whether a hook module keeps its contract: it registers, answers and goes away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from amplifier_core.events import ALL_EVENTS, payload_type
from amplifier_core.hooks import HookHandler
from amplifier_core.utils import PATIENCE, describe_error, timestamp
from amplifier_core.validation.base import ValidationResult
from amplifier_core.validation.module import COMPLIANCE, ModuleValidator

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator


_TYPICAL = {
    "session_id": "sample-session",
    "tool_name": "Write",
    "tool_input": {"file_path": "sample.txt", "content": "hello\n"},
    "tool_result": {"success": True, "output": "Created sample.txt", "error": None},
    "success": True,
    "prompt": "Say hello",
    "messages": [{"role": "user", "content": "Say hello"}],
    "response": {"content": [{"type": "text", "text": "hello"}], "tool_calls": None},
    "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12},
}
_PLAIN: dict[Any, Any] = {str: "sample", int: 1, float: 1.0, bool: True}


def sample_payload(event: str, **known: Any) -> dict[str, Any]:
    """A complete payload of an event; `known` fields are taken as they are."""
    payload = payload_type(event)
    hints = {} if payload is None else get_type_hints(payload)
    sample = {name: _TYPICAL.get(name, _sample_of(kind)) for name, kind in hints.items()}
    for absent in ("parent_id", "judged_again", "denied_by"):
        sample.pop(absent, None)
    return {**sample, "session_id": "sample-session", "timestamp": timestamp(), **known}


def _sample_of(kind: Any) -> Any:
    if is_typeddict(kind):
        return {name: _sample_of(part) for name, part in get_type_hints(kind).items()}
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if get_origin(kind) in (dict, list):
        return get_origin(kind)()
    return _sample_of(get_args(kind)[0])  # the first of a union


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
