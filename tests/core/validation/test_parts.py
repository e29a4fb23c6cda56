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
from amplifier_core.validation.module import PartValidator
from tests.support.modules import write_module

VALIDATORS = [ToolValidator, ProviderValidator, OrchestratorValidator, ContextValidator]
each_kind = pytest.mark.parametrize("validator", VALIDATORS, ids=lambda one: one.kind)

PART = """
async def mount(coordinator, config):
    class Part: ...
    part = Part()
    for name in config["members"]:
        setattr(part, name, "part" if name == "name" else lambda *a, **k: [])
    await coordinator.mount(config["point"], part, "part" if "s" == config["point"][-1] else None)
"""
TOOL = """
async def mount(coordinator, config):
    class Tool:
        name, description, input_schema = "t", {description!r}, {schema!r}
        async def execute(self, input): ...
    await coordinator.mount("tools", Tool())
"""
SCHEMA = {"type": "object", "properties": {}}


@each_kind
async def test_what_has_every_member_implements_the_interface(
    tmp_path: Path, validator: type[PartValidator]
) -> None:
    """Whatever its class is called and derives from."""
    config = {"point": validator.mount_point, "members": validator.members}
    result = await validator().validate(write_module(tmp_path, PART), config=config)
    assert result.passed, result.describe_errors()
    named = "Part" if validator.mount_point in ("orchestrator", "context") else "part"
    said = f"{validator.kind.capitalize()} '{named}' implements {validator.interface} interface"
    assert result.checks[-1].message == said


@each_kind
async def test_each_missing_member_is_named(tmp_path: Path, validator: type[PartValidator]) -> None:
    """One at a time, and all together."""
    path = write_module(tmp_path, PART)
    for member in validator.members:
        rest = [one for one in validator.members if one != member]
        config = {"point": validator.mount_point, "members": rest}
        result = await validator().validate(path, config=config)
        assert [one.name for one in result.errors] == ["protocol_compliance"]
        assert result.errors[0].message.endswith(f"it is missing: {member}")
    config = {"point": validator.mount_point, "members": []}
    result = await validator().validate(path, config=config)
    assert result.errors[0].message.endswith(", ".join(validator.members))


@each_kind
async def test_nothing_mounted_is_an_error(tmp_path: Path, validator: type[PartValidator]) -> None:
    """Unless something that can be called was returned instead."""
    path = write_module(tmp_path, "async def mount(coordinator, config): ...")
    result = await validator().validate(path)
    assert [one.name for one in result.errors] == ["protocol_compliance"]
    assert result.errors[0].message.startswith(f"No {validator.kind} was mounted")
    path = write_module(tmp_path, "async def mount(coordinator, config): return lambda: None")
    assert (await validator().validate(path)).passed


@pytest.mark.parametrize(
    ("validator", "module", "config"),
    [
        (ToolValidator, "tool-filesystem", {}),
        (ProviderValidator, "provider-scripted", {"script": []}),
        (ContextValidator, "context-simple", {}),
        (OrchestratorValidator, "loop-basic", {}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_our_own_parts_pass(
    validator: type[PartValidator], module: str, config: dict[str, list[str]]
) -> None:
    """What the package ships keeps the contract that authors are held to."""
    result = await validator(thorough=True).validate(module, config=config)
    assert result.passed, result.describe_errors()


@pytest.mark.parametrize(
    ("description", "schema", "wrong"),
    [
        ("Does it", SCHEMA, []),
        ("", SCHEMA, ["tool_description"]),
        ("Does it", {}, ["tool_schema"]),
        ("Does it", None, ["tool_schema"]),
        ("Does it", {"type": "string"}, ["tool_schema"]),
    ],
)
async def test_a_model_must_be_able_to_choose_and_call_a_tool(
    tmp_path: Path, description: str, schema: object, wrong: list[str]
) -> None:
    """By its description, with an object of arguments: tools of the ecosystem may do with less."""
    path = write_module(tmp_path, TOOL.format(description=description, schema=schema))
    result = await ToolValidator(thorough=True).validate(path)
    assert [one.name for one in result.errors] == wrong
    assert (await ToolValidator().validate(path)).passed


async def test_a_context_must_keep_its_messages(tmp_path: Path) -> None:
    """One that answers every call and remembers nothing is no conversation."""
    config = {"point": "context", "members": ContextValidator.members}
    path = write_module(tmp_path, PART)
    result = await ContextValidator(thorough=True).validate(path, config=config)
    assert [one.name for one in result.errors] == ["context_keeps_messages"]
