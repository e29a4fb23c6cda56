"""What the program behind the SDK would tell, and a run of the real one."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.frameworks.claude_agent_sdk.client import Connection

BASE = {"session_id": "s1", "transcript_path": "", "cwd": "/home/me/here"}
NO_CONTEXT: Any = {"signal": None}


async def tell(connection: Connection, native: str, **fields: Any) -> dict[str, Any]:
    """The answer to an event of the program."""
    payload: Any = {**BASE, "hook_event_name": native, **fields}
    return dict(await connection.listen(native)(payload, None, NO_CONTEXT))


def describe_call(name: str = "Bash", number: int = 1, **given: Any) -> dict[str, Any]:
    """The fields of a tool call."""
    return {"tool_name": name, "tool_input": given, "tool_use_id": f"toolu_{number}"}
