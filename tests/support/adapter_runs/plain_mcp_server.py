"""An MCP server over standard streams, in no framework: `note` and `wipe`, each call recorded.

`python plain_mcp_server.py FILE` writes a line of JSON for each call into FILE.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

VERBS = {"note": ("text", "noted"), "wipe": ("path", "wiped")}


@contextmanager
def record_calls(calls: list[tuple[str, dict[str, Any]]]) -> Iterator[list[str]]:
    """The command that starts the server; what it was called with is in `calls` afterwards."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "calls.jsonl"
        file.touch()
        try:
            yield [sys.executable, __file__, str(file)]
        finally:
            lines = file.read_text().splitlines()
            calls += [(name, given) for name, given in map(json.loads, lines)]


def list_tools() -> dict[str, Any]:
    """Both, with the schema of their input."""
    return {"tools": [_describe(name, key) for name, (key, _) in VERBS.items()]}


def _describe(name: str, key: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema}


def call_tool(asked: dict[str, Any], file: Path) -> dict[str, Any]:
    """Record a call and answer it."""
    name, given = asked["name"], asked.get("arguments") or {}
    with file.open("a") as calls:
        calls.write(json.dumps([name, given]) + "\n")
    key, verb = VERBS[name]
    return {"content": [{"type": "text", "text": f"{verb} {given[key]}"}], "isError": False}


def answer(method: str, asked: dict[str, Any], file: Path) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        about = {"name": "plain", "version": "1"}
        version = asked.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return list_tools()
    return call_tool(asked, file) if method == "tools/call" else {}


def main() -> None:
    """Answer each line until there are no more."""
    file = Path(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {}, file)
        said = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
