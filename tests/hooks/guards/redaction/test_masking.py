"""What is shown, recorded or sent to a model has its secrets replaced, guesses included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall
from tests.support.harness import Harness

TOKEN = "ghp_" + "Zz9" * 12
PAYLOADS: dict[str, dict[str, Any]] = {
    "tool:post": {
        "tool_name": "Read",
        "tool_input": {"a": ["SECRET"]},
        "tool_result": {"success": True, "output": {"SECRET": ["SECRET"]}, "error": None},
    },
    "content_block:end": {"block_index": 0, "block": {"type": "text", "text": "SECRET"}},
    "prompt:submit": {"prompt": "use SECRET", "metadata": {"k": "SECRET"}},
    "provider:request": {"messages": [{"role": "user", "content": [{"text": "SECRET"}]}]},
    "provider:response": {"response": {"content": [{"type": "text", "text": "SECRET"}]}},
    "provider:retry": {"error": {"message": "SECRET"}},
    "tool:error": {"tool_name": "x", "error": {"message": "SECRET"}},
    "error:orchestration": {"error": {"message": "SECRET"}},
    "mcp:list": {
        "server": "x",
        "method": "tools/list",
        "items": [{"name": "a", "inputSchema": {"properties": {"b": {"default": "SECRET"}}}}],
        "instructions": "log in with SECRET",
    },
}


@pytest.mark.parametrize("event", PAYLOADS)
@pytest.mark.parametrize(
    ("secret", "name"), [(TOKEN, "github-token"), ("password=hunter22", "key-value")]
)
async def test_each_event_carries_on_without_the_secret(
    event: str, secret: str, name: str, tmp_path: Path
) -> None:
    """Through `modify` on tool results, prompts, messages, replies and errors."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    data = json.loads(json.dumps(PAYLOADS[event]).replace("SECRET", secret))
    result = await harness.hooks.emit(event, data)
    hidden = secret.removeprefix("password=")
    assert result.action == "continue"
    assert hidden not in repr(result.data)
    assert f"[REDACTED:{name}]" in repr(result.data)
    assert hidden in repr(data)


async def test_a_schema_with_a_field_for_a_password_stays_as_it_is(tmp_path: Path) -> None:
    """Names of parameters in a server's list hold no secrets."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    field = {"type": "string", "description": "The password of the account"}
    schema = {"type": "object", "properties": {"password": field}, "required": ["password"]}
    items = [{"name": "login", "description": "Log in.", "inputSchema": schema}]
    listed = await harness.judge("mcp:list", server="x", method="tools/list", items=items)
    assert (listed.data or {})["items"] == items


CODE = "this.token = token;\npassword=hunter22\n"


async def test_the_tool_calls_of_a_reply_are_left_alone(tmp_path: Path) -> None:
    """They run as the model wrote them; what is in them is judged before they do."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    call = {"id": "1", "name": "Write", "arguments": {"content": CODE + TOKEN}}
    block = {"type": "tool_call", "id": "1", "name": "Write", "input": {"content": CODE + TOKEN}}
    reply = {"content": [{"type": "text", "text": TOKEN}, block], "tool_calls": [call]}
    result = await harness.hooks.emit("provider:response", {"response": reply})
    seen = result.data["response"]
    assert seen["tool_calls"] == [call]
    assert seen["content"] == [{"type": "text", "text": "[REDACTED:github-token]"}, block]


async def test_a_reply_that_is_a_model_stays_one(tmp_path: Path) -> None:
    """Loops of the ecosystem hand it on as it is."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    call = ToolCall(id="1", name="Write", arguments={"content": TOKEN})
    reply = ChatResponse(content=[TextBlock(text=f"a {TOKEN}")], tool_calls=[call])
    result = await harness.hooks.emit("provider:response", {"response": reply})
    seen = result.data["response"]
    assert isinstance(seen, ChatResponse)
    assert seen.text == "a [REDACTED:github-token]"
    assert seen.tool_calls == [call]
    plain = ChatResponse(content=[TextBlock(text="nothing")])
    same = await harness.hooks.emit("provider:response", {"response": plain})
    assert same.data["response"] is plain
    odd = await harness.hooks.emit("provider:response", {"response": f"just {TOKEN}"})
    assert odd.data["response"] == "just [REDACTED:github-token]"


async def test_the_person_can_be_told(tmp_path: Path) -> None:
    """With `notify` each replacement is a message."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"notify": True})
    await harness.run("prompt:submit", prompt=f"use {TOKEN}", metadata={})
    assert "A secret was replaced in prompt (prompt:submit)." in repr(harness.shown)
