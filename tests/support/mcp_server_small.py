"""A small MCP server without any library, as a program: `python -I -S mcp_server_small.py FOLDER`.

What it is sent stands in FOLDER/received, line by line, and its environment in FOLDER/env. A file
FOLDER/faults with the name of a fault makes it misbehave from the start.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

Message = dict[str, Any]

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
PNG = "iVBORw0KGgo="
FOLDER = sys.argv[1]
tools = ["echo", "picture", "progress", "hold", "refuse", "die", "break_off", "rubbish"]
tools += ["flood", "grow"]
prompts: list[Message] = []


def main() -> None:
    """Answer until nobody writes any more."""
    note("env", json.dumps(dict(os.environ)))
    fault = read_fault()
    if fault == "exit":
        sys.stderr.write("cannot open the database\n")
        sys.exit(3)
    for line in sys.stdin:
        note("received", line)
        if fault != "silent":
            answer(json.loads(line))
    if fault == "stubborn":
        signal.pause()  # ignores that its input has ended


def read_fault() -> str:
    """What it is to do wrong."""
    try:
        with open(f"{FOLDER}/fault") as file:  # noqa: PTH123 - pathlib takes 15 ms to load
            return file.read().strip()
    except OSError:
        return ""


def note(name: str, text: str) -> None:
    """Leave a trace."""
    with open(f"{FOLDER}/{name}", "a") as file:  # noqa: PTH123
        file.write(text)


def send(message: Message) -> None:
    """A message of this server."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def say(id: Any, text: str) -> None:
    """The result of a tool."""
    send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})


def answer(message: Message) -> None:
    """Do what a message asks for."""
    id, method = message.get("id"), message.get("method", "")
    params = message.get("params") or {}
    if id is None:
        return
    if method == "tools/call":
        call(id, params["name"], params)
    elif method in RESULTS:
        send({"id": id, "result": RESULTS[method](params)})
    else:
        send({"id": id, "error": {"code": -32601, "message": f"no method {method}"}})


def call(id: Any, name: str, params: Message) -> None:
    """A tool."""
    text = str((params.get("arguments") or {}).get("text", ""))
    if name == "echo":
        say(id, text)
    elif name == "picture":
        parts = [{"type": "text", "text": "Look:"}]
        parts.append({"type": "image", "data": PNG, "mimeType": "image/png"})
        send({"id": id, "result": {"content": parts}})
    elif name == "progress":
        told = {"progressToken": params["_meta"]["progressToken"], "total": 2}
        for step in (1, 2):
            data = {**told, "progress": step, "message": f"step {step}"}
            send({"method": "notifications/progress", "params": data})
        say(id, "done")
    elif name in FAULTS:
        FAULTS[name](id, text)


def die(id: Any, text: str) -> None:
    """Be killed in the middle of a call."""
    os.kill(os.getpid(), signal.SIGKILL)


def break_off(id: Any, text: str) -> None:
    """End in the middle of a message."""
    sys.stdout.write('{"jsonrpc":"2.0","id":')
    sys.stdout.flush()
    os._exit(0)


def rubbish(id: Any, text: str) -> None:
    """Print what is no message, then answer."""
    sys.stdout.write("Listening on port 80 ...\n{]\n\n")
    sys.stdout.buffer.flush()
    sys.stdout.buffer.write(b"\xff\xfe\n")
    say(id, "after rubbish")


def flood(id: Any, text: str) -> None:
    """Print more on standard error than any pipe holds, then answer."""
    for _ in range(100):
        sys.stderr.write("x" * 10_000 + "\n")
    sys.stderr.flush()
    say(id, "after the flood")


def refuse(id: Any, text: str) -> None:
    """An error of the protocol."""
    send({"id": id, "error": {"code": -32001, "message": text}})


def grow(id: Any, text: str) -> None:
    """Have one more tool, and say so; log something."""
    tools.append("more")
    prompts.append({"name": "hello"})
    send({"method": f"notifications/{text or 'tools'}/list_changed"})
    send({"method": "notifications/message", "params": {"level": "error", "data": "low on memory"}})
    say(id, "grown")


FAULTS = {
    "refuse": refuse,
    "die": die,
    "break_off": break_off,
    "rubbish": rubbish,
    "flood": flood,
    "grow": grow,
}
RESULTS: dict[str, Any] = {
    "initialize": lambda params: {
        "protocolVersion": params.get("protocolVersion", "2025-11-25"),
        "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "small", "version": "1"},
    },
    "tools/list": lambda params: {
        "tools": [{"name": one, "description": f"{one}.", "inputSchema": SCHEMA} for one in tools]
    },
    "resources/list": lambda params: {
        "resources": [{"uri": "small://a", "name": str(params.get("cursor"))}],
        "nextCursor": "again",  # without end
    },
    "resources/templates/list": lambda params: {"resourceTemplates": []},
    "resources/read": lambda params: {"contents": [{"uri": params["uri"], "text": "content"}]},
    "prompts/list": lambda params: {"prompts": prompts},
    "ping": lambda params: {},
}

if __name__ == "__main__":
    main()
