"""What type checkers must refuse; `scripts/typing` asks them.

Each wrong line says by which rule mypy and pyright refuse it. A line that one of them lets pass is
an error there: its comment is then one that nobody needs.
"""

from __future__ import annotations

from typing import Any

import amplifier_core
from amplifier_core import AmplifierSession, HookRegistry, HookResult, ToolResult
from amplifier_core import HookResutl as HookResutl  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import SESSION_END, TOOL_PRE
from amplifier_core.interfaces import Host, hook
from amplifier_core.payloads import ToolPostData, ToolPreData
from amplifier_core.testing import MockCoordinator
from amplifier_hooks import load_bundel as load_bundel  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

registry = HookRegistry()


async def before(event: str, data: ToolPreData) -> HookResult:
    return HookResult(reason=data["tool_nmae"])  # type: ignore[typeddict-item] # pyright: ignore[reportGeneralTypeIssues, reportUnknownArgumentType]


async def after(event: str, data: ToolPostData) -> HookResult:
    return HookResult()


async def says_yes(event: str, data: dict[str, Any]) -> bool:
    return True


async def takes_the_data_only(data: dict[str, Any]) -> None: ...


# Answers

HookResult(action="denyy")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
HookResult(actoin="deny")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
HookResult("deny")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
HookResult(action="ask_user", approval_options="Allow")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
HookResult(action="ask_user", approval_default="yes")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
HookResult(user_message_level="loud")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
HookResult(action="modify", data=["x"])  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
str(HookResult().actoin)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]
HookResult().action = "deny"  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
ToolResult(sucess=True)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
str(amplifier_core.HookRegistri)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]

# Registration

registry.register(TOOL_PRE, after)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType, reportCallIssue]
registry.register(SESSION_END, before)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType, reportCallIssue]
registry.register("tool:*", before)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType, reportCallIssue]
registry.register("tool:pre", says_yes)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType, reportCallIssue]
registry.register("tool:pre", takes_the_data_only)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType, reportCallIssue]
registry.register("tool:pre", before, on_error="stop")  # type: ignore[call-overload] # pyright: ignore[reportArgumentType, reportCallIssue]
registry.register("tool:pre", before, priority="first")  # type: ignore[call-overload] # pyright: ignore[reportArgumentType, reportCallIssue]
registry.register("tool:pre", before, timeot=3)  # type: ignore[call-overload] # pyright: ignore[reportCallIssue]
registry.register(before)  # type: ignore[call-overload] # pyright: ignore[reportArgumentType]


@registry.register  # type: ignore[call-overload] # pyright: ignore[reportArgumentType]
async def without_parentheses(event: str, data: dict[str, Any]) -> None: ...


@registry.register("tool:pre")  # type: ignore[type-var] # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
async def answers_with_a_text(event: str, data: dict[str, Any]) -> str:
    return "deny"


@hook("tool:pre", prioritty=3)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue, reportUntypedFunctionDecorator]
async def misspelt_option(event: str, data: dict[str, Any]) -> None: ...


@hook("tool:pre")  # type: ignore[type-var] # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
async def takes_too_little(event: str) -> None: ...


# The session, and what is given to it


class Screen:
    def show(self, message: str) -> None: ...


class Person:
    def ask(self, prompt: str) -> str:
        return "Allow"


AmplifierSession({}, approval_system=Person())  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
AmplifierSession({}, display_system=Screen())  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
SessionCoordinator(context=[])  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
MockCoordinator(approval_system="Allow")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def mount(coordinator: Host) -> None:
    coordinator.hooks.register(TOOL_PRE, after)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType, reportCallIssue]
    coordinator.approval_system = None  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
