"""The ways to start each agent that `guests/modes.py` lists: their command lines, and what is said.

Each plays a script in which the model runs a command that our hook denies.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.programs import PROGRAMS, PROMPT, Call, Program
from tests.agents.world import World

Process = asyncio.subprocess.Process
Talk = Callable[[Process, World], Awaitable[None]]

DENIED = "echo deny-me >> out.txt"
SESSION = "11111111-1111-4111-8111-111111111111"
_OPEN = ["--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"]


@dataclass(frozen=True)
class Start:
    """One way to start an agent."""

    words: tuple[str, ...]
    """Behind the program; `URL` stands for the address of the model."""

    talk: Talk | None = None
    """What an editor would say to it; else its input is empty."""

    first: tuple[str, ...] = ()
    """The command line of a session that comes before."""

    call: Call | None = None
    """What the model calls first; else the denied command."""

    prepare: Callable[[World], None] = lambda world: None
    env: Mapping[str, str] | None = None


class Lines:
    """JSON-RPC, a message in each line; whatever the agent asks is allowed."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._number = 0

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request."""
        self._number += 1
        number = self._number
        await self._send({"id": number, "method": method, "params": params})
        said = await self.wait(lambda one: one.get("id") == number and "method" not in one)
        assert "result" in said, said
        result: dict[str, Any] = said["result"]
        return result

    async def tell(self, method: str) -> None:
        """A notification."""
        await self._send({"method": method})

    async def wait(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message of that kind."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            if not line.startswith(b"{"):
                continue
            message: dict[str, Any] = json.loads(line)
            if fits(message):
                return message
            if "method" in message and "id" in message:
                await self._answer(message)
        raise EOFError("the agent ended")

    async def _answer(self, asked: dict[str, Any]) -> None:
        options = asked.get("params", {}).get("options")
        if asked["method"] != "session/request_permission" or not options:
            error = {"code": -32601, "message": "this editor does not do that"}
            await self._send({"id": asked["id"], "error": error})
            return
        allowed = next(one for one in options if one["kind"].startswith("allow"))
        outcome = {"outcome": "selected", "optionId": allowed["optionId"]}
        await self._send({"id": asked["id"], "result": {"outcome": outcome}})

    async def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self._process.stdin.drain()


async def talk_acp(process: Process, world: World) -> None:
    """What an editor says: one session with one prompt."""
    lines = Lines(process)
    await lines.ask("initialize", protocolVersion=1, clientCapabilities={})
    session = await lines.ask("session/new", cwd=str(world.project), mcpServers=[])
    text = [{"type": "text", "text": PROMPT}]
    await lines.ask("session/prompt", sessionId=session["sessionId"], prompt=text)


async def talk_app_server(process: Process, world: World) -> None:
    """The same in the protocol of Codex."""
    lines = Lines(process)
    await lines.ask("initialize", clientInfo={"name": "editor", "title": "E", "version": "1"})
    await lines.tell("initialized")
    free = {"approvalPolicy": "never", "sandbox": "danger-full-access"}
    thread = await lines.ask("thread/start", cwd=str(world.project), **free)
    text = [{"type": "text", "text": PROMPT}]
    await lines.ask("turn/start", threadId=thread["thread"]["id"], input=text)
    await lines.wait(lambda one: one.get("method") == "turn/completed")


async def talk_stream(process: Process, world: World) -> None:
    """What the SDK of Claude Code, and editors through it, write: a message in each line."""
    assert process.stdin is not None
    message = {"role": "user", "content": PROMPT}
    process.stdin.write(json.dumps({"type": "user", "message": message}).encode() + b"\n")
    await process.stdin.drain()


def _add_plugin(world: World) -> None:
    manifest = world.project / "plug" / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "plug", "version": "1.0.0"}')


def _add_commands(world: World) -> None:
    """A file of the project, for each agent, whose text holds a command that runs at once."""
    shell = f"Look: !`{DENIED}`\n"
    files = {
        ".claude/commands/look.md": f"---\nallowed-tools: Bash(*)\n---\n{shell}",
        ".opencode/command/look.md": f"---\ndescription: Looks\n---\n{shell}",
        ".gemini/commands/look.toml": f'prompt = "Look: !{{{DENIED}}}"\n',
    }
    for name, text in files.items():
        (world.project / name).parent.mkdir(parents=True)
        (world.project / name).write_text(text)


def _delegate(kind: str, *, background: bool = False) -> Call:
    asked = {"description": "A part", "prompt": "inner task", "subagent_type": kind}
    return {"name": "Agent", "input": {**asked, "run_in_background": background}}


_STREAM = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
_HELPER = '{"helper": {"description": "Helps", "prompt": "Help."}}'
_CLAUDE = ("-p", PROMPT, *_OPEN)
_CLAUDE_FIRST = (*_CLAUDE, "--session-id", SESSION)
_PROVIDER = {"name": "loop", "env_key": "LOOP_KEY", "wire_api": "responses"}
_LOOP = ("-c", 'model_providers.loop.base_url="URL/v1"')
_SETTINGS = {"model_provider": "loop", "model": "gpt-5.5"}
_SETTINGS |= {f"model_providers.loop.{key}": value for key, value in _PROVIDER.items()}
_LOOP_AGAIN = tuple(word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value!r}"))
_CODEX_FREE = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", *_LOOP)
_CODEX = ("exec", *_CODEX_FREE)
_GEMINI = ("-m", "gemini-2.5-flash", "--yolo")
_COPILOT = ("--allow-all-tools", "--trust-folder")

STARTS: dict[str, Start] = {
    "claude -p": Start(_CLAUDE),
    "claude -p --resume": Start((*_CLAUDE, "--resume", SESSION), first=_CLAUDE_FIRST),
    "claude -p --resume --fork-session": Start(
        (*_CLAUDE, "--resume", SESSION, "--fork-session"), first=_CLAUDE_FIRST
    ),
    "claude -p --continue": Start((*_CLAUDE, "--continue"), first=_CLAUDE_FIRST),
    "claude -p --input-format stream-json": Start(
        ("-p", *_STREAM, *_OPEN),
        talk_stream,
    ),
    "claude -p --permission-mode plan": Start((*_CLAUDE[:-1], "--permission-mode", "plan")),
    "claude --agents": Start((*_CLAUDE, "--agents", _HELPER), call=_delegate("helper")),
    "claude, a sub-agent in the background": Start(
        _CLAUDE, call=_delegate("general-purpose", background=True)
    ),
    "claude, a command in the background": Start(
        _CLAUDE,
        call={
            "name": "Bash",
            "input": {"command": DENIED, "description": "Try it", "run_in_background": True},
        },
    ),
    "claude --plugin-dir": Start((*_CLAUDE, "--plugin-dir", "plug"), prepare=_add_plugin),
    "claude, a command in a file of its commands": Start(
        ("-p", "/look", *_OPEN), prepare=_add_commands
    ),
    "claude --bare": Start((*_CLAUDE, "--bare")),
    "claude --safe-mode": Start((*_CLAUDE, "--safe-mode")),
    "claude --restricted": Start(
        (*_CLAUDE[:-1], "--restricted", "--tools", "Bash", "--allowedTools", "Bash")
    ),
    "claude --setting-sources project": Start((*_CLAUDE, "--setting-sources", "project")),
    "claude --settings '{\"disableAllHooks\": true}'": Start(
        (*_CLAUDE, "--settings", '{"disableAllHooks": true}')
    ),
    "codex exec": Start((*_CODEX, PROMPT)),
    "codex exec resume": Start(
        ("exec", "resume", "--last", *_CODEX_FREE, PROMPT), first=(*_CODEX, PROMPT)
    ),
    "codex review": Start(("exec", "review", *_CODEX_FREE, PROMPT)),
    "codex app-server": Start(("app-server", *_LOOP), talk_app_server),
    "codex --disable hooks": Start((*_CODEX, "--disable", "hooks", PROMPT)),
    "codex exec --ignore-user-config": Start(
        (*_CODEX, "--ignore-user-config", *_LOOP_AGAIN, PROMPT),
    ),
    "gemini -p": Start(("-p", PROMPT, *_GEMINI)),
    "gemini -p --resume": Start(
        ("-p", PROMPT, *_GEMINI, "--resume", "latest"), first=("-p", PROMPT, *_GEMINI)
    ),
    "gemini --acp": Start(("--acp", *_GEMINI), talk_acp),
    "gemini --experimental-acp": Start(("--experimental-acp=true", *_GEMINI), talk_acp),
    "gemini, a command in a file of its commands": Start(
        ("-p", "/look", *_GEMINI), prepare=_add_commands
    ),
    "copilot -p": Start(("-p", PROMPT, *_COPILOT)),
    "copilot -p --continue": Start(
        ("-p", PROMPT, "--allow-all-tools", "--continue"), first=("-p", PROMPT, *_COPILOT)
    ),
    "copilot --acp": Start(("--acp", "--allow-all-tools"), talk_acp),
    "copilot -p --autopilot": Start(("-p", PROMPT, *_COPILOT, "--autopilot")),
    "copilot -p --fleet": Start(("-p", PROMPT, *_COPILOT, "--fleet")),
    "copilot -p --no-custom-instructions": Start(
        ("-p", PROMPT, *_COPILOT, "--no-custom-instructions")
    ),
    "opencode run": Start(("run", PROMPT)),
    "opencode run --continue": Start(("run", PROMPT, "--continue"), first=("run", PROMPT)),
    "opencode run --attach": Start(("run", PROMPT, "--attach", "SERVER")),
    "opencode acp": Start(("acp",), talk_acp),
    "opencode, a command in a file of its commands": Start(
        ("run", "--command", "look", "now"), prepare=_add_commands
    ),
    "opencode --pure": Start(("run", PROMPT, "--pure")),
}
"""By the name that the table gives them."""


def build_command(start: Start, words: tuple[str, ...], world: World, url: str) -> list[str]:
    """The whole command line."""
    program = find_program(start)
    file = world.locate(program)
    interpreter = ["node"] if file.suffix == ".js" else []
    return [*interpreter, str(file), *(word.replace("URL", url) for word in words)]


def find_program(start: Start) -> Program:
    """The agent that is started."""
    name = next(name for name, one in STARTS.items() if one is start)
    return PROGRAMS[name.partition(",")[0].split()[0]]


def write_script(start: Start) -> list[dict[str, Any]]:
    """The denied command, once in each session that the conversation consists of."""
    denied = {"tool_calls": [find_program(start).call_shell(DENIED)]}
    done = {"text": "Done."}
    if start.prepare is _add_commands:
        return [done]
    if start.call is None:
        return [denied, done, denied, done]
    if start.call["name"] != "Agent":
        return [{"tool_calls": [start.call]}, done]
    return [{"tool_calls": [start.call]}, denied, done]


def find_port() -> int:
    """One that is free now."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port: int = line.getsockname()[1]
        return port


def read_log(path: Path) -> str:
    """What a program said, for the message of a failing test."""
    return path.read_text(errors="replace")[-2000:] if path.exists() else ""
