"""Stands for the person whom Claude Code asks, as its option --permission-prompt-tool wants it.

A program: `python -I -S prompt_server.py FOLDER`. What is asked stands in FOLDER/asked, line by
line; every answer is yes, unless there is a file FOLDER/refuse.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[-1])
TOOL = {"name": "ask", "inputSchema": {"type": "object", "additionalProperties": True}}


def main() -> None:
    """Answer until nobody asks any more."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": reply(message)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def reply(message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    params = message.get("params") or {}
    if message["method"] == "initialize":
        server = {"name": "person", "version": "1"}
        version = params.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    if message["method"] == "tools/list":
        return {"tools": [TOOL]}
    if message["method"] == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(decide(params["arguments"]))}]}
    return {}


def decide(asked: dict[str, Any]) -> dict[str, Any]:
    """What the person says."""
    with (FOLDER / "asked").open("a") as file:
        file.write(json.dumps(asked) + "\n")
    if (FOLDER / "refuse").exists():
        return {"behavior": "deny", "message": "the person refuses"}
    return {"behavior": "allow", "updatedInput": asked["input"]}


if __name__ == "__main__":
    main()
