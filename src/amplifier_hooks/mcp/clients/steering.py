"""Keys of an entry, beside its command, that would change or avoid what the gateway judges.

A client gives the gateway the environment and the folder that the entry has for its server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

HEADER_VARIABLE = "AMPLIFIER_MCP_HEADER_"
"""What the variables with the values of headers begin with."""
URL_VARIABLE = "AMPLIFIER_MCP_URL"
"""The variable with the address of a server."""

_STEERING = re.compile(
    r"HOME|XDG_.*"  # where our rules and records are
    r"|CLAUDE_CONFIG_DIR|CODEX_HOME|COPILOT_HOME|GEMINI_CLI_HOME"  # which files are protected
    r"|LD_.*|DYLD_.*|GLIBC_TUNABLES|GCONV_PATH|__PYVENV_LAUNCHER__"  # which code runs
    r"|OPENSSL_.*|SSL_CERT_(?:FILE|DIR)|SSLKEYLOGFILE"  # who is believed
    r"|AMPLIFIER_(?!MCP_URL\Z|MCP_HEADER_[0-9]+\Z).*",
    re.DOTALL,
)
_STEERING_BY_NAME = re.compile(r"PATH|PYTHON.*", re.DOTALL)
_ADDRESSES = frozenset(
    ("url", "uri", "httpurl", "serverurl", "sseurl", "wsurl", "tcp", "socket", "endpoint")
)
_INHERITED = "__proto__"
_COMMANDS = (None, "stdio", "local")


def find_steering(entry: Any, *, by_name: bool = False) -> str:
    """What would steer the gateway, as the end of a sentence about the server; or nothing.

    With `by_name`, the gateway is started by a name that PATH finds, or without `-I`.
    """
    if not isinstance(entry, dict):
        return ""
    for key in entry:
        if _fold(key) == "envfile":
            return f"reads its environment from a file ({key})"
    env = entry.get("env")
    names = env if isinstance(env, dict) else ()
    wrong = next((one for one in names if is_steering(one, by_name=by_name)), "")
    return f"has {wrong} in its environment" if wrong else ""


def is_steering(name: str, *, by_name: bool = False) -> bool:
    """Whether a variable steers the gateway."""
    if by_name and _STEERING_BY_NAME.fullmatch(name):
        return True
    # Some programs would take what is behind the sign for the value.
    return "=" in name or bool(_STEERING.fullmatch(name))


def find_address(entry: dict[str, Any]) -> str:
    """The key beside a command that makes a client take an address instead; or none."""
    for key in entry:
        if key == _INHERITED or _fold(key) in _ADDRESSES:
            return key
    # A value that is no text is as unknown as a type nobody has heard of.
    kind = entry.get("type")
    return "" if any(kind is one or kind == one for one in _COMMANDS) else "type"


def _fold(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())


_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([\w.-]+)\s*[=:]", re.MULTILINE)


def find_steering_files(client: str, folder: Path, *, by_name: bool = False) -> Iterator[str]:
    """What such files of a project do to the gateway; those in a person's home are their own."""
    names, read = _FILES.get(client, ((), _read_settings))
    home = Path.home()
    for place in (one for one in (folder, *folder.parents) if one != home):
        for path in (place / name for name in names):
            found = [one for one in _read(path, read) if is_steering(one, by_name=by_name)]
            if found:
                yield (
                    f"{path} sets {found[0]} for what the client starts, so the gateway may not "
                    "judge by your rules; remove that from it"
                )


def _read(path: Path, read: Callable[[str], Iterable[str]]) -> list[str]:
    try:
        # Some people have a pipe there, which would be waited for.
        return list(read(path.read_text("utf-8", "replace"))) if path.is_file() else []
    except (OSError, ValueError, RecursionError):  # the client cannot read it either
        return []


def _read_settings(text: str) -> Iterable[str]:
    said: Any = json.loads(text.removeprefix("\ufeff"))
    env = said.get("env") if isinstance(said, dict) else None
    return env if isinstance(env, dict) else ()


_FILES: dict[str, tuple[tuple[str, ...], Callable[[str], Iterable[str]]]] = {
    "claude": ((".claude/settings.json", ".claude/settings.local.json"), _read_settings),
    "gemini": ((".gemini/.env", ".env"), _ASSIGNED.findall),
}
