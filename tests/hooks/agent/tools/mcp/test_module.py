"""tool-mcp in a session: mounted, shared with sub-agents, and gone without a trace."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError, SessionDenied
from amplifier_core.message_models import ToolCall
from amplifier_core.mount_plan import MountPlan
from amplifier_core.testing import TestCoordinator
from amplifier_core.tool_call import call_tool
from amplifier_hooks.agent.session.reload import ModuleReplacer
from amplifier_hooks.agent.tools import mcp
from amplifier_hooks.guards.policy.protected_places import ProtectedPlaces
from tests.hooks.agent.tools.mcp.conftest import is_running
from tests.support.sessions import SessionHarness, calls
from tests.support.waiting import wait_until


def find_child(folder):
    """The process that works in a folder."""
    for one in Path("/proc").iterdir():
        try:
            words = (one / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(folder).encode() in words and b"-S" in words:
            return int(one.name)
    return None


async def test_only_named_variables_reach_the_server(server, monkeypatch):
    """No secret of ours, unless the bundle says so."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("DOCS_TOKEN", "tok-123456")
    await server.start(env={"TZ": "UTC", "TOKEN": {"env": "DOCS_TOKEN"}})
    assert server.env["TZ"] == "UTC"
    assert server.env["TOKEN"] == "tok-123456"
    assert "ANTHROPIC_API_KEY" not in server.env
    assert "DOCS_TOKEN" not in server.env


async def test_a_secret_is_hidden_wherever_the_session_writes(server, monkeypatch):
    """As long as the module is mounted."""
    monkeypatch.setenv("DOCS_TOKEN", "tok-123456")
    await server.start(env={"TOKEN": {"env": "DOCS_TOKEN"}})
    assert server.host.scrub("it is tok-123456") == "it is [secret]"
    await server.undo()
    assert server.host.scrub("it is tok-123456") == "it is tok-123456"


async def test_a_literal_secret_is_warned_about(server):
    """It does not belong into a bundle."""
    await server.start(env={"API_KEY": "abcdef123456"})
    assert "'servers.small.env.API_KEY' looks like a secret" in server.shown
    assert server.host.scrub("it is abcdef123456") == "it is [secret]"


async def test_a_value_that_is_nowhere_leaves_the_server_out(server):
    """Told with the name of the variable."""
    await server.start(env={"TOKEN": {"env": "NOT_SET_ANYWHERE"}})
    await server.wait_for_text("NOT_SET_ANYWHERE")


async def test_wrong_options_name_the_module(server):
    """And show no value."""
    with pytest.raises(ModuleLoadError, match=r"tool-mcp: option 'servers.small.env.A'"):
        await server.start(env={"A": ["secret-value"]})


async def test_two_servers_with_the_same_tools_do_not_shadow_each_other(server):
    """Each call reaches the server that it names."""
    (server.folder / "b").mkdir()
    other = {**server.config, "args": [*server.config["args"][:-1], str(server.folder / "b")]}
    await server.start()
    undo = await mcp.mount(server.host, {"servers": {"other": other}})
    tool = server.host.get("tools")["mcp__other__echo"]
    assert (await tool.execute({"text": "to the other"})).success
    assert "to the other" in (server.folder / "b" / "received").read_text()
    assert "to the other" not in (server.folder / "received").read_text()
    await undo()
    assert (await server.call("echo", text="still")).output == "still"


async def test_the_process_ends_with_the_module(server):
    """No orphans, and no tools."""
    await server.start()
    pid = find_child(server.folder)
    assert pid is not None
    await server.undo()
    assert not is_running(pid)
    assert server.host.get("tools") == {}


async def test_a_start_that_is_given_up_leaves_no_process(server):
    """Somebody presses Ctrl-C while a server does not answer."""
    (server.folder / "fault").write_text("silent")
    mounting = asyncio.ensure_future(server.start())
    await wait_until(lambda: find_child(server.folder) is not None)
    mounting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await mounting
    await wait_until(lambda: find_child(server.folder) is None)


async def test_a_sub_agent_uses_the_process_of_its_parent(server):
    """And leaves it to the parent when it ends."""
    await server.start()
    child = TestCoordinator(session_id="child", parent_id=server.host.session_id)
    child.register_capability("session.working_dir", str(server.folder))
    undo = await mcp.mount(child, {"servers": {"small": server.config}})
    await mcp.on_session_ready(child)
    assert (await child.get("tools")["mcp__small__echo"].execute({"text": "hi"})).output == "hi"
    assert server.received.count("initialize") == 1
    await undo()
    assert child.get("tools") == {}
    assert (await server.call("echo", text="still")).output == "still"


async def test_a_reload_keeps_servers_that_stay_the_same(server, tmp_path):
    """Others are ended, and those that changed are started anew."""
    session = SessionHarness([], tool_modules=plan(server), working_dir=tmp_path).session
    async with session:
        replacer = ModuleReplacer(session.coordinator, session.mounting, lambda entry: "")
        first = find_child(server.folder)
        for options, is_same in (({"timeout": 99}, True), ({"start_timeout": 99}, False)):
            after = {**session.config, "tools": plan(server, **options)}
            await replacer.apply(replacer.compare(MountPlan.parse(after), lambda entry: ""))
            assert (find_child(server.folder) == first) is is_same
            first = find_child(server.folder)
        tool = session.coordinator.get("tools", "mcp__small__echo")
        assert (await tool.execute({"text": "hi"})).output == "hi"
        assert "mcp__small__list_resources" in session.coordinator.get("tools")
    assert find_child(server.folder) is None


async def test_places_that_no_tool_writes_to_are_none_of_a_servers_either(server):
    """Whatever it calls a path: nothing else keeps it out."""
    hooks = server.folder / ".git" / "hooks"
    server.host.register_capability("session.places", ProtectedPlaces((), (hooks,)))
    await server.start()
    for text, is_denied in ((f"{hooks}/pre-commit", True), (f"{server.folder}/x", False)):
        call = ToolCall(id="1", name="mcp__small__echo", arguments={"text": text})
        assert (await call_tool(server.host, call)).denied is is_denied


async def test_without_the_sdk_the_error_names_the_extra(server, monkeypatch):
    """And how to install it."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ModuleLoadError, match=r"tool-mcp needs the package 'mcp'.*install"):
        await server.start()


async def test_without_servers_the_sdk_is_not_needed(monkeypatch):
    """Nothing is started."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    host = TestCoordinator()
    undo = await mcp.mount(host, {})
    await mcp.on_session_ready(host)
    await undo()
    assert host.get("tools") == {}


def plan(server, **options):
    config = {"servers": {"small": {**server.config, **options}}}
    return [{"module": "tool-mcp", "config": config}]


async def test_a_model_calls_it_in_a_session_and_sees_the_image(server, tmp_path):
    """Through hooks, loop and context to the next request."""
    script = [calls("mcp__small__picture"), {"text": "a picture"}]
    async with SessionHarness(script, tool_modules=plan(server), working_dir=tmp_path) as harness:
        heard = harness.listen()
        assert await harness.session.execute("look") == "a picture"
        assert "tool:pre" in heard.names
        (result,) = [one for one in harness.messages if one["role"] == "tool"]
        assert [part["type"] for part in result["content"]] == ["text", "image"]


async def test_a_session_that_is_stopped_at_once_cancels_the_call_at_the_server(server, tmp_path):
    """As when somebody presses Ctrl-C twice."""
    script = [calls("mcp__small__hold"), {"text": "never"}]
    async with SessionHarness(script, tool_modules=plan(server), working_dir=tmp_path) as harness:
        turn = asyncio.ensure_future(harness.session.execute("hold"))
        await wait_until(lambda: "tools/call" in server.received)
        await harness.coordinator.request_cancel(immediate=True)
        await turn
        await wait_until(lambda: "notifications/cancelled" in server.received)
        assert harness.session.status == "interrupted"


async def test_hooks_have_judged_the_list_before_the_first_request(server, tmp_path):
    """They are mounted after the tools."""
    seen = []

    async def watch(event, data):
        seen.append((event, data.get("method")))

    harness = SessionHarness([{"text": "done"}], tool_modules=plan(server), working_dir=tmp_path)
    harness.hooks.register("mcp:list", watch, name="watch")
    harness.hooks.register("provider:request", watch, name="watch")
    async with harness:
        await harness.session.execute("go")
    assert seen[0] == ("mcp:list", "tools/list")
    assert seen[-1][0] == "provider:request"


async def test_a_required_server_that_does_not_start_stops_the_session(server, tmp_path):
    """With the reason; any other is only left out."""
    modules = plan(server, command="no-such-program", required=True)
    harness = SessionHarness([{"text": "x"}], tool_modules=modules, working_dir=tmp_path)
    with pytest.raises(SessionDenied, match="no-such-program"):
        async with harness:
            pass
    optional = plan(server, command="no-such-program")
    async with SessionHarness([], tool_modules=optional, working_dir=tmp_path) as harness:
        screen = harness.screen.messages
        await wait_until(lambda: any("no-such-program" in text for text, _, _ in screen))


KILLED = """
import asyncio, json, sys
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools import mcp

async def main():
    await mcp.mount(TestCoordinator(), {"servers": {"small": json.loads(sys.argv[1])}})
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
async def test_a_server_dies_with_a_process_that_is_killed(server):
    """Also one that does not care that its input has ended."""
    (server.folder / "fault").write_text("stubborn")
    words = ["-c", KILLED, json.dumps(server.config)]
    ours = await asyncio.create_subprocess_exec(sys.executable, *words)
    await wait_until(lambda: (server.folder / "received").exists())
    pid = find_child(server.folder)
    assert pid is not None
    ours.kill()
    await ours.wait()
    await wait_until(lambda: not is_running(pid))
