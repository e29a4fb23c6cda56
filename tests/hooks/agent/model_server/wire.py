"""What the tests of the model server share: bytes in, bytes out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from amplifier_hooks.agent.model_server import ModelServer

TEXT = {"type": "text", "text": "x"}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
USER = {"role": "user", "content": "x"}
USES = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "B", "input": {}}]}
CALLS = {"role": "assistant", "tool_calls": [{"id": "a"}]}


async def send_bytes(server: ModelServer, content: bytes) -> bytes:
    """All that the server answers to these bytes."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(content)
    await writer.drain()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


def write_post(path: str, body: object) -> bytes:
    """A request with a JSON body."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


def write_body(*messages: object) -> dict[str, Any]:
    """The body of a request with these messages."""
    return {"max_tokens": 9, "messages": list(messages)}


def read_events(frames: bytes) -> list[Any]:
    """The data of server-sent events."""
    lines = (line for line in frames.decode().splitlines() if line.startswith("data: "))
    return [json.loads(line.removeprefix("data: ")) for line in lines if "[DONE]" not in line]
