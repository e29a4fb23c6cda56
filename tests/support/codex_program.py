"""A Codex that speaks the part of `codex app-server` that we use.

What it trusts stands in config.toml, by key and digest, as that of the real one does. It knows the
hooks of a project only if FAKE_CODEX says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HOME = Path(os.environ.get("CODEX_HOME") or os.environ["HOME"] + "/.codex")
CONFIG = HOME / "config.toml"


def list_hooks(cwd: str) -> Iterator[dict[str, Any]]:
    """The hooks of the person, and those of the project."""
    state = tomllib.loads(CONFIG.read_text() if CONFIG.exists() else "")
    known = state.get("hooks", {}).get("state", {})
    files = [HOME / "hooks.json"]
    if os.environ.get("FAKE_CODEX") == "trusts-projects":
        files.append(Path(cwd) / ".codex" / "hooks.json")
    for file in files:
        hooks = json.loads(file.read_text())["hooks"] if file.exists() else {}
        for event, groups in hooks.items():
            name = re.sub("(?<=[a-z])(?=[A-Z])", "_", event).lower()
            for group, found in enumerate(groups):
                for number, hook in enumerate(found["hooks"]):
                    key = f"{file}:{name}:{group}:{number}"
                    yield describe(hook, key, file, known.get(key, {}).get("trusted_hash"))


def describe_folder(cwd: str) -> dict[str, Any]:
    """The hooks that would run in a folder, or why none would."""
    found: dict[str, Any] = {"cwd": cwd, "hooks": [], "warnings": [], "errors": []}
    try:
        return {**found, "hooks": list(list_hooks(cwd))}
    except tomllib.TOMLDecodeError as error:
        return {**found, "errors": [{"path": cwd, "message": f"{CONFIG}: {error}"}]}
    except ValueError as error:
        return {**found, "warnings": [f"failed to parse hooks config: {error}"]}


def describe(hook: dict[str, Any], key: str, file: Path, known: str | None) -> dict[str, Any]:
    """One hook, with what is known about it."""
    digest = "sha256:" + hashlib.sha256(json.dumps(hook).encode()).hexdigest()
    trust = "untrusted" if known is None else "trusted" if known == digest else "modified"
    facts = {"key": key, "command": hook["command"], "currentHash": digest, "enabled": True}
    return {**facts, "trustStatus": trust, "sourcePath": str(file)}


def write(value: dict[str, Any]) -> None:
    """Write digests down, each as a table of its own."""
    text = CONFIG.read_text() if CONFIG.exists() else ""
    if "[hooks.state]" not in text:
        text += ("\n" if text else "") + "[hooks.state]\n"
    for key, one in value.items():
        head = f"\n[hooks.state.{json.dumps(key)}]\n"
        text = re.sub(re.escape(head) + "trusted_hash = [^\n]*\n", "", text)
        text += f"{head}trusted_hash = {json.dumps(one['trusted_hash'])}\n"
    CONFIG.parent.mkdir(exist_ok=True)
    CONFIG.write_text(text)


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What one request brings."""
    if method == "hooks/list":
        return {"data": [describe_folder(cwd) for cwd in params["cwds"]]}
    if method == "config/batchWrite":
        write(params["edits"][0]["value"])
    return {}


def say(message: dict[str, Any]) -> None:
    """One line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer line by line; the first line is news that nobody has asked for."""
    assert sys.argv[1:] == ["app-server"]
    say({"method": "remoteControl/status/changed", "params": {}})
    for line in sys.stdin:
        asked = json.loads(line)
        result = answer(asked["method"], asked.get("params") or {})
        if "id" in asked:
            say({"id": asked["id"], "result": result})


if __name__ == "__main__":
    main()
