"""Mounting the file tools."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.hooks import HookRegistry
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder
from amplifier_core.tool_call import call_tool
from amplifier_hooks.agent.tools import filesystem


async def test_four_tools_are_mounted_and_taken_away_again(coordinator):
    """Also twice."""
    unmount = await filesystem.mount(coordinator, {})
    assert sorted(coordinator.tools) == ["Edit", "MultiEdit", "Read", "Write"]
    await unmount()
    await unmount()
    assert coordinator.tools == {}


async def test_a_bundle_may_want_some_of_them(coordinator):
    """A name that is none says so, and so does a wrong option."""
    await filesystem.mount(coordinator, {"tools": ["Read"]})
    assert list(coordinator.tools) == ["Read"]
    with pytest.raises(ModuleLoadError, match="tool-filesystem: Unknown tool 'Wirte'; have"):
        await filesystem.mount(coordinator, {"tools": ["Wirte"]})
    with pytest.raises(ModuleLoadError, match="option 'roots' cannot be 7"):
        await filesystem.mount(coordinator, {"roots": 7})


async def test_schemas_are_plain_and_described(coordinator):
    """A model can use a tool from its description and schema alone."""
    await filesystem.mount(coordinator, None)
    for tool in coordinator.tools.values():
        schema = tool.input_schema
        assert schema["type"] == "object"
        assert "file_path" in schema["required"]
        assert schema["additionalProperties"] is False
        assert "$ref" not in str(schema)
        assert all("description" in field for field in schema["properties"].values())
        assert len(tool.description) > 80
    edits = coordinator.tools["MultiEdit"].input_schema["properties"]["edits"]
    assert set(edits["items"]["required"]) == {"old_string", "new_string"}


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        ("Read", {}, "'file_path' is required"),
        ("Read", {"path": "x"}, "did you mean 'file_path'?"),
        ("Read", {"file_path": 7}, "'file_path' cannot be 7"),
        ("Read", {"file_path": "x", "offset": 0}, "greater than or equal to 1"),
        ("Read", {"file_path": ""}, "empty"),
        ("Read", {"file_path": "a\0b"}, "NUL"),
        ("Read", {"file_path": "."}, "is a directory"),
        ("Write", {"file_path": ".", "content": "x"}, "is a directory"),
        ("Write", {"file_path": "x", "content": "\ud800"}, "cannot be UTF-8"),
        ("MultiEdit", {"file_path": "x", "edits": []}, "'edits' cannot be []"),
    ],
)
async def test_a_wrong_input_is_one_sentence(call, name, given, word):
    """It fails the call and raises nothing."""
    result = await call(name, **given)
    assert not result.success
    assert word in result.error
    assert "\n" not in result.error


async def test_a_coordinator_of_the_ecosystem_can_mount_them(work):
    """It has capabilities, mount points and a registry; more is not needed."""

    class Older:
        def __init__(self):
            self.hooks = HookRegistry()
            self.tools = {}

        def get_capability(self, name):
            return str(work)

        async def mount(self, point, module, name=None):
            self.tools[name] = module

    seen = EventRecorder()
    older: Any = Older()
    older.hooks.register("artifact:write", seen)
    await filesystem.mount(older, None)
    assert (await older.tools["Write"].execute({"file_path": "a", "content": "x"})).success
    assert seen.names == ["artifact:write"]


async def test_a_tool_works_on_the_input_that_hooks_left(coordinator, work, artifacts):
    """A hook may send it to another file; that one is read, written and announced."""

    async def elsewhere(event, data):
        given = {**data["tool_input"], "file_path": "other.txt"}
        return HookResult(action="modify", data={**data, "tool_input": given})

    await filesystem.mount(coordinator, None)
    coordinator.hooks.register("tool:pre", elsewhere)
    edits = [{"old_string": "one", "new_string": "two"}]
    (work / "other.txt").write_text("one")
    call = ToolCall(id="1", name="MultiEdit", arguments={"file_path": "a.txt", "edits": edits})
    assert (await call_tool(coordinator, call)).success
    assert (work / "other.txt").read_text() == "two"
    assert not (work / "a.txt").exists()
    assert artifacts == [("artifact:write", str(work.resolve() / "other.txt"), 3)]
