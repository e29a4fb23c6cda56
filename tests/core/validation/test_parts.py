"""The checks of tools, providers, contexts and loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.validation import (
    ContextValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from amplifier_core.validation.module import ModuleValidator
from tests.support.modules import write_module

# Something with a name and a conversation that forgets: enough for no protocol but the context's.
FORGETFUL = """
async def mount(coordinator, config):
    class Thing:
        name = "thing"
        def add_message(self, *a, **k): ...
        def get_messages(self): return []
        def set_messages(self, m): ...
        def clear(self): ...
    for point in ("tools", "providers", "context", "orchestrator"):
        await coordinator.mount(point, Thing(), "t" if point.endswith("s") else None)
    async def undo(): ...
    return undo
"""
NOTHING = """
async def mount(coordinator, config):
    await coordinator.unmount("context")
"""
TOOL = """
async def mount(coordinator, config):
    class Tool:
        name, description, input_schema = "t", {description!r}, {schema!r}
        async def execute(self, input): ...
    await coordinator.mount("tools", Tool())
"""
SCHEMA = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("validator", "half", "none"),
    [
        (ToolValidator(), "t is a Tool", "mounts a tool"),
        (ProviderValidator(), "t is a Provider", "mounts a provider"),
        (ContextValidator(), "keeps messages", "mounts a context"),
        (OrchestratorValidator(), "mounts a loop", "mounts a loop"),
    ],
    ids=lambda one: one.kind if isinstance(one, ModuleValidator) else "",
)
async def test_what_is_missing_is_named(
    tmp_path: Path, validator: ModuleValidator, half: str, none: str
) -> None:
    """A part that lacks something, and no part at all."""
    result = await validator.validate(write_module(tmp_path, FORGETFUL))
    assert half in [one.name for one in result.errors]
    result = await validator.validate(write_module(tmp_path, NOTHING))
    assert none in [one.name for one in result.errors]


@pytest.mark.parametrize(
    ("validator", "module", "config"),
    [
        (ToolValidator(), "tool-filesystem", {}),
        (ProviderValidator(), "provider-scripted", {"script": []}),
        (ContextValidator(), "context-simple", {}),
        (OrchestratorValidator(), "loop-basic", {}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_our_own_parts_pass(
    validator: ModuleValidator, module: str, config: dict[str, list[str]]
) -> None:
    """What the package ships keeps the contract that authors are held to."""
    result = await validator.validate(module, config)
    assert result.passed, result.summary()


@pytest.mark.parametrize(
    ("description", "schema", "wrong"),
    [
        ("Does it", SCHEMA, []),
        ("", SCHEMA, ["t has a description"]),
        ("Does it", {}, ["t has a schema"]),
        ("Does it", None, ["t has a schema"]),
        ("Does it", {"type": "string"}, ["t has a schema"]),
    ],
)
async def test_a_model_must_be_able_to_choose_and_call_a_tool(
    tmp_path: Path, description: str, schema: object, wrong: list[str]
) -> None:
    """By its description, with an object of arguments."""
    text = TOOL.format(description=description, schema=schema)
    result = await ToolValidator().validate(write_module(tmp_path, text))
    assert [one.name for one in result.errors] == wrong
