"""Which tools no mounted guard can read: said once by name, and never about what guards know."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import SessionCoordinator
from amplifier_core.testing import MemoryAudit, RecordingDisplay
from amplifier_hooks import open_session
from amplifier_hooks.guards import command_guard, production_guard, rules
from amplifier_hooks.guards.policy.unread_tools import (
    OfferedTool,
    UnreadTools,
    collect_readers,
    describe_unread,
)
from tests.support.project import Project


def offer(name: str, *keys: str, **more: Any) -> OfferedTool:
    """A tool whose input has these keys."""
    return OfferedTool(name, {"type": "object", "properties": {key: {} for key in keys}}, **more)


DEPLOY = offer("deploy", "environment", "version")


async def mount_guards(tmp_path: Any, **options: Any) -> SessionCoordinator:
    """A session with the guards of the default bundle."""
    host = SessionCoordinator(display_system=RecordingDisplay(), audit=MemoryAudit())
    host.register_capability("session.working_dir", str(tmp_path))
    await command_guard.mount(host, options)
    await production_guard.mount(host, {})
    return host


async def describe(host: SessionCoordinator, *tools: OfferedTool) -> str | None:
    return describe_unread(tools, await collect_readers(host))


async def test_a_tool_without_command_or_path_is_named(tmp_path: Any) -> None:
    text = await describe(await mount_guards(tmp_path), DEPLOY)
    assert text is not None
    assert text.startswith("No guard can read the input of deploy:")


@pytest.mark.parametrize(
    "tool",
    [
        offer("terminal", "commands"),
        offer("save", "filePath"),
        OfferedTool("run", {"properties": {"argv": {"type": "array"}}}),
        OfferedTool("batch", {"$defs": {"Step": {"properties": {"cmd": {}}}}, "properties": {}}),
        offer("Todo", "todos"),
        offer("get_weather", "city"),
        offer("mcp__server__list_issues", "project"),
        offer("lookup", "word", only_reads=True),
    ],
    ids=lambda tool: tool.name,
)
async def test_what_guards_read_or_what_only_reads_is_not(tool: OfferedTool, tmp_path: Any) -> None:
    assert await describe(await mount_guards(tmp_path), tool) is None


async def test_options_of_a_guard_describe_a_tool(tmp_path: Any) -> None:
    """Its command may stand under any key, and "" says that it has none."""
    host = await mount_guards(tmp_path, tools={"Bash": "command", "de*": ""})
    assert await describe(host, DEPLOY) is None


async def test_arguments_that_are_no_list_are_no_command(tmp_path: Any) -> None:
    tool = OfferedTool("run", {"properties": {"args": {"type": "string"}}})
    assert await describe(await mount_guards(tmp_path), tool) is not None


async def test_a_tool_of_which_nothing_is_known_is_said_to_be_one(tmp_path: Any) -> None:
    text = await describe(await mount_guards(tmp_path), OfferedTool("odd"), DEPLOY)
    assert text is not None
    assert "of deploy; nothing tells which input odd would get" in text


async def test_many_names_are_counted(tmp_path: Any) -> None:
    tools = [offer(f"tool{number}", "x") for number in range(11)]
    text = await describe(await mount_guards(tmp_path), *tools)
    assert text is not None
    assert "tool7 and 3 more" in text
    assert "\n" not in text


async def test_without_guards_nothing_is_said() -> None:
    assert await describe(SessionCoordinator(), DEPLOY) is None


@pytest.mark.parametrize(
    ("match", "is_said"),
    [
        ({"path": ".env"}, True),
        ({"path": ".env", "tool": "Read"}, True),
        ({"tool": "deploy"}, False),
        ({"regex": "production"}, False),
    ],
)
async def test_rules_read_what_they_look_at(
    match: dict[str, Any], is_said: bool, tmp_path: Any
) -> None:
    """A rule that names a tool judges it, and one that looks through whole inputs reads them."""
    host = SessionCoordinator()
    host.register_capability("session.working_dir", str(tmp_path))
    rule = {"name": "keep", "action": "deny", "reason": "no", **match}
    secrets = {"name": "env", "action": "deny", "reason": "no", "path": ".env"}
    await rules.mount(host, {"rules": [rule, secrets]})
    assert (await describe(host, DEPLOY) is not None) is is_said


async def test_each_tool_is_shown_and_recorded_once(tmp_path: Any) -> None:
    host = await mount_guards(tmp_path)
    unread, shown = UnreadTools(host), host.display_system
    assert isinstance(shown, RecordingDisplay)
    await unread.report([DEPLOY])
    await unread.report([DEPLOY, offer("terminal", "command")])
    await unread.report_call("deploy", {"environment": "x"})
    assert [text.split(":")[0] for text, _, _ in shown.messages] == [
        "No guard can read the input of deploy"
    ]
    records = host.trail.sink.of_type("user_message")  # type: ignore[attr-defined]
    assert [one["body"]["level"] for one in records] == ["warning"]


async def test_a_tool_without_schema_is_looked_at_when_it_is_called(tmp_path: Any) -> None:
    host = await mount_guards(tmp_path)
    unread, shown = UnreadTools(host), host.display_system
    assert isinstance(shown, RecordingDisplay)
    await unread.report([OfferedTool("shell"), OfferedTool("mail")], waits=True)
    assert shown.messages == []
    await unread.report_call("shell", {"command": "ls"})
    assert shown.messages == []
    await unread.report_call("mail", {"to": ["ana"], "text": "hello"})
    assert len(shown.messages) == 1
    assert "mail" in shown.messages[0][0]


TOOL = """
from amplifier_core.models import ToolResult

class Deploy:
    name = "deploy"
    description = "Deploy something."
    input_schema = {"type": "object", "properties": {"environment": {"type": "string"}}}

    async def execute(self, input):
        return ToolResult(output="done")

async def mount(coordinator, config=None):
    await coordinator.mount("tools", Deploy(), "deploy")
"""


async def test_a_session_says_it_when_it_starts(project: Project) -> None:
    """Of the tools of the bundle one is unread; ours are known to the guards."""
    project.write("deploy.py", TOOL)
    tools = ["tool-filesystem", "tool-bash", "tool-todo", "./deploy.py"]
    bundle = project.bundle(hooks=["hooks-command-guard", "hooks-production-guard"], tools=tools)
    display, audit = RecordingDisplay(), MemoryAudit()
    async with await open_session(
        bundle, working_dir=project.folder, display_system=display, audit=audit, hot_reload=False
    ):
        shown = [text for text, _, source in display.messages if source == "guards"]
    assert len(shown) == 1
    assert shown[0].startswith("No guard can read the input of deploy:")
    assert [one["body"]["text"] for one in audit.of_type("user_message")] == shown
