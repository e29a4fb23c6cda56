"""Tools that are no functions, and that the SDK has run by an executor of the application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Literal

from agents import ApplyPatchTool, CustomTool, LocalShellTool, ShellTool
from agents.editor import ApplyPatchOperation, ApplyPatchResult

from amplifier_core.utils import resolve
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.openai_agents.outputs import is_failed, read_output, write_output
from amplifier_hooks.frameworks.openai_agents.turn import current

MARK = "_amplifier_governs"
_SHELL = ("commands", "timeout_ms", "max_output_length")
_LOCAL_SHELL = ("command", "env", "timeout_ms", "user", "working_directory")
_PATCH = ("path", "diff", "move_to")


def govern_custom(tool: CustomTool) -> None:
    """Put hooks in front of a tool whose input is one text."""
    inner = tool.on_invoke_tool
    if hasattr(inner, MARK):
        return

    @wraps(inner)
    async def invoke(context: Any, text: str) -> Any:
        turn = current.get()
        if turn is None:
            return await resolve(inner(context, text))
        wanted = Wanted(
            tool.name,
            {"input": text},
            str(getattr(context, "tool_call_id", "")),
            lambda given: inner(context, str(given.get("input", ""))),
            read_output,
        )
        return write_output(await turn.run.call(wanted))

    tool.on_invoke_tool = _mark(invoke)


def govern_shell(tool: ShellTool) -> None:
    """Put hooks in front of a shell; a hosted one has no executor, and is not ours to see."""
    inner = tool.executor
    if inner is None or hasattr(inner, MARK):
        return
    execute = inner

    def change(request: Any, given: dict[str, Any]) -> Any:
        action = replace(request.data.action, **_pick(given, _SHELL))
        return replace(request, data=replace(request.data, action=action))

    tool.executor = _govern_executor(tool.name, execute, _SHELL, change)


def govern_local_shell(tool: LocalShellTool) -> None:
    """The same for the older shell tool."""
    if hasattr(tool.executor, MARK):
        return

    def change(request: Any, given: dict[str, Any]) -> Any:
        action = request.data.action.model_copy(update=_pick(given, _LOCAL_SHELL))
        return replace(request, data=request.data.model_copy(update={"action": action}))

    tool.executor = _govern_executor(tool.name, tool.executor, _LOCAL_SHELL, change)


def _govern_executor(
    name: str,
    inner: Callable[[Any], Any],
    fields: tuple[str, ...],
    change: Callable[[Any, dict[str, Any]], Any],
) -> Any:
    @wraps(inner)
    async def execute(request: Any) -> Any:
        turn = current.get()
        if turn is None:
            return await resolve(inner(request))
        action = request.data.action
        before = {key: getattr(action, key, None) for key in fields}
        arguments = {key: value for key, value in before.items() if value is not None}
        wanted = Wanted(
            name,
            arguments,
            str(request.data.call_id),
            lambda given: inner(request if is_same(given, arguments) else change(request, given)),
            read_output,
        )
        return write_output(await turn.run.call(wanted))

    return _mark(execute)


def govern_editor(tool: ApplyPatchTool) -> None:
    """Put hooks in front of the editor that applies patches."""
    if not isinstance(tool.editor, GovernedEditor):
        tool.editor = GovernedEditor(tool.editor, tool.name)


class GovernedEditor:
    """An editor whose operations pass hooks; whatever else it is asked for, the inner one has."""

    def __init__(self, inner: Any, name: str) -> None:
        self._inner = inner
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._inner, name)

    async def create_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._apply("create_file", operation)

    async def update_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._apply("update_file", operation)

    async def delete_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._apply("delete_file", operation)

    async def _apply(self, kind: str, operation: ApplyPatchOperation) -> Any:
        apply = getattr(self._inner, kind)
        turn = current.get()
        if turn is None:
            return await resolve(apply(operation))
        before = {key: getattr(operation, key) for key in _PATCH}
        arguments = {"type": kind, **{key: one for key, one in before.items() if one is not None}}

        def change(given: dict[str, Any]) -> Any:
            if given.get("type") != kind:
                raise ValueError(f"a hook made {given.get('type')!r} of {kind!r}")
            return apply(replace(operation, **_pick(given, _PATCH)))

        wanted = Wanted(self._name, arguments, "", change, read_output)
        return _write_patch_result(await turn.run.call(wanted))


def _write_patch_result(called: Called) -> Any:
    if called.untouched:
        return called.value
    status: Literal["failed", "completed"] = "failed" if is_failed(called) else "completed"
    return ApplyPatchResult(status=status, output=called.text)


def _pick(given: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {key: given[key] for key in fields if key in given}


def _mark(function: Any) -> Any:
    setattr(function, MARK, True)
    return function
