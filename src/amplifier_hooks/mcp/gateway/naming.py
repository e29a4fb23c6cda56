"""What a server is, to those who allow its tools, and what it is called if nobody has named it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from amplifier_hooks.guards.mcp.protocol import identify_address

_RUNNERS = frozenset({"bunx", "node", "npx", "pipx", "python", "python3", "uv", "uvx"})
_VERBS = frozenset({"run", "exec", "tool", "x"})


def identify_server(url: str | None, command: Sequence[str], folder: Path) -> list[str]:
    """Its address, or its command.

    The folder is a part of it if a word names something in it: `python server.py` is another
    server in another project, and what one says of its tools must not be shown for the other.
    """
    if url:
        return [identify_address(url)]
    words = (one for one in command if one and not PurePath(one).is_absolute())
    is_here = any((folder / one).exists() for one in words)
    return [*command, *([str(folder)] if is_here else [])]


def guess_name(url: str | None, command: Sequence[str]) -> str:
    """The host, or the program that is run: server-files of `npx -y @scope/server-files@2 .`."""
    if url:
        return (urlsplit(url).hostname or "server").replace(".", "-")
    words = [one for one in command if not one.startswith("-")] or list(command)
    while len(words) > 1 and _is_runner(words[0]):
        words = words[1:]
        while len(words) > 1 and words[0] in _VERBS:
            words = words[1:]
    plain = words[0].removeprefix("@").partition("@")[0].rstrip("/")
    return PurePath(plain).stem if plain.endswith((".py", ".js", ".ts")) else PurePath(plain).name


def _is_runner(word: str) -> bool:
    name = PurePath(word).name
    return name in _RUNNERS or name.startswith("python3.")
