"""Hooks as people write them: commands, scripts and settings files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Data = dict[str, Any]


def write_file(folder: Path, name: str, content: Any) -> Path:
    """A file; what is no text is written as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def write_script(folder: Path, name: str, body: str) -> str:
    """A script that can be run; returns the command for it."""
    path = write_file(folder, name, f"#!/usr/bin/env bash\n{body}\n")
    path.chmod(0o755)
    return str(path)


def make_command(answer: Data) -> str:
    """A command that prints a JSON answer."""
    return f"cat >/dev/null; printf '%s' '{json.dumps(answer)}'"


def configure(event: str, *handlers: Data | str, matcher: str | None = None) -> Data:
    """The options for hooks of one event in Claude's shape."""
    entries = [one if isinstance(one, dict) else {"command": one} for one in handlers]
    group: Data = {"hooks": [{"type": "command", **entry} for entry in entries]}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {event: [group]}, "dialect": "claude"}


def specific(event: str, **fields: Any) -> Data:
    """An answer with fields of one event only."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def read_log(path: Path) -> list[Data]:
    """The payloads that hooks with `cat >> path` were given."""
    return [json.loads(line) for line in path.read_text().splitlines()]
