"""The real servers: how each is started, and one call of each that can be seen to have happened."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.mcp.world import World

INSTALLED = Path(__file__).parents[2] / ".venvs" / "mcp-servers"
MODERN_SERVER = Path(__file__).with_name("modern_server.py")
LEGACY, AUTO, MODERN = "legacy", "auto", "2026-07-28"
"""Modes of the SDK's client: the older protocol, whatever the server speaks, the newer one."""

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Server:
    """One server. Its call is about a word, by which the hook of these tests judges it."""

    name: str
    modes: tuple[str, ...]
    build: Callable[[World], list[str]]
    call: Callable[[World, str], Call]
    has_done: Callable[[World, str], bool] | None = None
    """Whether the call about a word has happened, where that leaves anything behind."""


def find_python(name: str) -> str:
    """A server that is a Python package."""
    return str(INSTALLED / "python" / "bin" / name)


def find_node(name: str) -> list[str]:
    """A server that is a Node package."""
    script = INSTALLED / "node" / "node_modules" / "@modelcontextprotocol" / name / "dist/index.js"
    return [shutil.which("node") or "node", str(script)]


def get_files(world: World) -> Path:
    """The folder that servers may work in."""
    folder = world.project / "files"
    folder.mkdir(exist_ok=True)
    return folder


def make_repository(world: World) -> Path:
    """A repository with one commit."""
    folder = world.project / "repository"
    if not folder.exists():
        git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost"]
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    return folder


def has_branch(world: World, word: str) -> bool:
    """Whether somebody has made the branch."""
    command = ["git", "-C", str(make_repository(world)), "branch", "--list", word]
    return bool(subprocess.check_output(command))


def has_file(world: World, word: str) -> bool:
    """Whether somebody has written the file."""
    return (get_files(world) / word).exists()


def write_file(world: World, word: str) -> Call:
    """Write a file called so."""
    return "write_file", {"path": str(get_files(world) / word), "content": "written"}


def create_branch(world: World, word: str) -> Call:
    """Make a branch called so."""
    return "git_create_branch", {"repo_path": str(make_repository(world)), "branch_name": word}


BOTH = (LEGACY, AUTO, MODERN)
SERVERS = {
    one.name: one
    for one in (
        Server(
            "time",
            BOTH,
            lambda world: [find_python("mcp-server-time")],
            lambda world, word: ("get_current_time", {"timezone": "UTC", "why": word}),
        ),
        Server(
            "git",
            BOTH,
            lambda world: [find_python("mcp-server-git")],
            create_branch,
            has_branch,
        ),
        Server(
            "filesystem",
            (LEGACY, AUTO),
            lambda world: [*find_node("server-filesystem"), str(get_files(world))],
            write_file,
            has_file,
        ),
        Server(
            "everything",
            (LEGACY, AUTO),
            lambda world: find_node("server-everything"),
            lambda world, word: ("echo", {"message": word}),
        ),
        Server(
            "modern",
            BOTH,
            lambda world: [sys.executable, str(MODERN_SERVER), str(get_files(world))],
            lambda world, word: ("note", {"name": word}),
            has_file,
        ),
    )
}
FETCH = Server(
    "fetch",
    BOTH,
    lambda world: [find_python("mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"],
    lambda world, word: ("fetch", {"url": word}),
)
"""Not among the others, because its call needs a site."""
CASES = [(server.name, mode) for server in SERVERS.values() for mode in server.modes]
