"""What users import has types, else an editor completes nothing and refuses nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_overloads

import pytest

PACKAGES = ("amplifier_core", "amplifier_audit", "amplifier_hooks")
FACES = (
    "amplifier_core",
    "amplifier_core.approval",
    "amplifier_core.hooks",
    "amplifier_core.interfaces",
    "amplifier_core.models",
    "amplifier_core.testing",
    "amplifier_audit",
    "amplifier_hooks",
)
ANY = ("Any", "Any | None", "typing.Any")

# What may be anything, and why. The last part is a parameter, a field or the return value.
JUSTIFIED = {
    "modules exchange values that the kernel does not look at": """
        Host.mount.module Host.get.return Host.register_capability.value
        Host.get_capability.return Host.scrub.value Host.scrub.return
        SessionCoordinator.scrub.value SessionCoordinator.scrub.return
    """,
    "a context may answer at once or be awaited, and takes messages in two forms": """
        Conversation.add_message.return ContextManager.get_messages.return
        ContextManager.get_messages_for_request.return
        ContextManager.get_messages_for_request.provider
        ContextManager.set_messages.return ContextManager.clear.return
        MemoryContext.add_message.role MemoryContext.add_message.content
        MemoryContext.add_message.message MemoryContext.get_messages_for_request.provider
    """,
    "modules of the ecosystem give objects of their own with a few attributes": """
        ModuleCoordinator.__init__.session SessionCoordinator.__init__.session
        SessionCoordinator.__init__.loader MockCoordinator.__init__.session
        ModuleLoader.__init__.coordinator ModuleLoader.load.coordinator
        ModuleLoader.initialize.coordinator
    """,
    "a loop takes what it is given in the types of its own": """
        Orchestrator.execute.context Orchestrator.execute.hooks ScriptedLoop.execute.context
        ScriptedOrchestrator.execute.context ScriptedOrchestrator.execute.providers
        ScriptedOrchestrator.execute.tools ScriptedOrchestrator.execute.hooks
        ScriptedOrchestrator.execute.coordinator
    """,
    "outputs of tools, raw blocks of providers and defaults of settings are of any type": """
        ToolResult.output ToolResultBlock.output ToolResultContent.output MockTool.__init__.output
        ContentBlock.raw TextContent.raw ThinkingContent.raw ToolCallContent.raw
        ToolResultContent.raw ConfigField.default
        ContentBlock.__init__.raw TextContent.__init__.raw ThinkingContent.__init__.raw
        ToolCallContent.__init__.raw ToolResultContent.__init__.raw
        ToolResultContent.__init__.output
    """,
    "events carry data of every type": """
        EventRecorder.__call__.data EventRecorder.record.data EventRecorder.emit.data
        normalize_data.data
    """,
    "whatever it is, a message can name it": "safe_repr.value",
    "a hook may return anything; it is read where it is called": "HookHandler.call.return",
    "a tool is looked at, never called, to tell whether it is still the same": """
        ApprovalGate.recall.tool ApprovalGate.remember.tool
    """,
}


def list_public() -> Iterator[tuple[str, Any]]:
    """Every class and function that the packages announce."""
    for face in FACES:
        module = import_module(face)
        names = getattr(module, "__all__", None) or vars(module)
        for name in names:
            value = getattr(module, name)
            home = str(getattr(value, "__module__", ""))
            if not name.startswith("_") and home.startswith(PACKAGES) and callable(value):
                yield name, value


def list_anys(name: str, value: Any) -> Iterator[str]:
    """Where a class or a function is annotated with Any alone."""
    if not inspect.isclass(value):
        yield from list_anys_of_function(name, value)
        return
    for field, annotation in inspect.get_annotations(value).items():
        if annotation in ANY and not field.startswith("_"):
            yield f"{name}.{field}"
    for attribute, member in vars(value).items():
        if not attribute.startswith("_") or attribute in ("__init__", "__call__"):
            function = getattr(member, "fget", getattr(member, "__func__", member))
            if inspect.isfunction(function):
                yield from list_anys_of_function(f"{name}.{attribute}", function)


def list_anys_of_function(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """Of its parameters and its return value, unless overloads say more, here or elsewhere."""
    is_typed = hasattr(function, "typed_like") or get_overloads(function)
    if not inspect.isfunction(function) or is_typed:
        return
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        collects = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if parameter.annotation in ANY and not collects:
            yield f"{name}.{parameter.name}"
    if signature.return_annotation in ANY:
        yield f"{name}.return"


def test_nothing_public_is_of_any_type_without_a_reason() -> None:
    """In either direction: a reason that nobody needs any more goes, too."""
    found = {one for name, value in list_public() for one in list_anys(name, value)}
    assert found == {one for names in JUSTIFIED.values() for one in names.split()}


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_read_the_types_of_every_package(package: str) -> None:
    """They look for this file, and take everything of a package without it for anything."""
    folder = Path(str(import_module(package).__file__)).parent
    assert (folder / "py.typed").is_file()


def test_models_say_their_defaults_where_type_checkers_look() -> None:
    """`Field(None)` is a required argument for them, `Field(default=None)` is not."""
    for path in Path(str(import_module("amplifier_core").__file__)).parent.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            after = line.partition("= Field(")[2]
            assert not after or after[0] == ")" or "=" in after.partition(",")[0], f"{path}: {line}"
