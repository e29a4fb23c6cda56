"""Tools of MCP servers in our own sessions: a server is behind no sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.message_models import ToolCall
from amplifier_core.tool_call import call_tool
from tests.hooks.agent.tools.mcp.conftest import RealServer


async def test_no_server_is_asked_about_what_people_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent with a server for files would otherwise decide for itself."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    server = await RealServer(tmp_path).start()
    try:
        for text in (str(tmp_path / "data/amplifier/mcp/x.json"), "data/amplifier/trust", "hello"):
            call = ToolCall(id="1", name="mcp__small__echo", arguments={"text": text})
            result = await call_tool(server.host, call)
            assert result.denied is (text != "hello")
    finally:
        await server.undo()
