"""A trail with a guard, a hook in shadow mode and one that nobody calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_audit import AuditLog, AuditSettings


def write_trail(path: Path, level: Any = "normal") -> Path:
    """Four calls: one passes, one is denied, one is asked about, and at one the guard fails."""
    log = AuditLog(path, AuditSettings(level=level), name=path.name)
    log.append("bundle_loaded", {"folder": str(path.parent), "bundle": "test"})
    for number, name in enumerate(("guard", "shadow", "dead"), 1):
        body = {"priority": 0, "on_error": "deny" if name == "guard" else "continue"}
        log.append("hook_registered", body, hook=name, event="tool:pre", registration=number)
    for file, said in (("a.txt", {}), ("b.txt", {"action": "deny"}), ("c.txt", _ASKS), _FAILS):
        _judge(log, path.name, file, said)
    source: dict[str, Any] = {"session": path.name, "turn": 1, "event": "tool:pre"}
    source |= {"hook": "guard", "registration": 1}
    log.append("approval_requested", {"digest": "d", "prompt": "Sure?"}, **source)
    log.append("approval_decided", {"allowed": True, "how": "person", "digest": "d"}, **source)
    log.close_now()
    return path


_ASKS = {"action": "ask_user"}
_FAILS = ("d.txt", {"action": "deny", "error": "OSError: no", "timed_out": False})


def _judge(log: AuditLog, session: str, file: str, said: dict[str, Any]) -> None:
    answers = [{"hook": "guard", "id": 1, "action": "continue", "ms": 0.5, **said}]
    if file == "b.txt":
        shadowed = {"hook": "shadow", "id": 2, "action": "continue", "ms": 1, "shadowed": "deny"}
        answers.append(shadowed)
    data = {"tool_name": "Write", "tool_input": {"file_path": file}}
    body = {"action": said.get("action", "continue"), "hooks": answers, "data": data}
    log.append("dispatch", body, session=session, turn=1, event="tool:pre")
