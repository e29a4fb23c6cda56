"""The real coding agents: where they are, and how each is run without a network and a person.

What each needs was found by trying; see docs/guests.md for what each does with an answer.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Call = dict[str, Any]

PROMPT = "please do it"
NOWHERE = "http://127.0.0.1:9/"
ARCHITECTURE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


class MissingProgram(Exception):
    """A program is not where scripts/agents puts it; the message says what would do."""


class Program:
    """One agent. Its model is a script, so `call_…` writes the calls as its model would."""

    name: str
    executable: str
    """Below the folder of the packages; `*` stands for a part that depends on the machine."""

    shell: str
    argument = "command"
    spoken_by = "/v1/messages"
    """The protocol in which it talks to its model."""

    def locate(self, agents: Path) -> Path:
        """The file of the program."""
        pattern = self.executable.replace("ARCH", ARCHITECTURE)
        found = next((agents / "node_modules").glob(pattern), None)
        if found is None:
            raise MissingProgram(
                f"{self.name} is not at {agents}/node_modules/{pattern}; scripts/agents installs "
                f"it where there is a package for this machine ({platform.machine()})"
            )
        return found

    def build_command(self, program: Path, url: str) -> list[str]:
        """The program with its arguments, for one prompt and no person."""
        raise NotImplementedError

    def build_environment(self, home: Path, url: str) -> dict[str, str]:
        """What it needs besides a home and a path; its model is at the address."""
        raise NotImplementedError

    def write_settings(self, home: Path, project: Path) -> None:
        """What its user would have set up before."""

    def call_shell(self, command: str) -> Call:
        """The model runs a command."""
        return {"name": self.shell, "input": {self.argument: command, "description": "Try it"}}

    def call_agent(self) -> Call:
        """The model starts a sub-agent, which then plays the script from its beginning."""
        raise NotImplementedError

    def add_server(self, home: Path, name: str, command: Sequence[str]) -> None:
        """Its user adds an MCP server."""
        raise NotImplementedError

    def call_server(self, server: str, tool: str, input: dict[str, Any]) -> Call:
        """The model calls a tool of that server."""
        return {"name": f"mcp__{server}__{tool}", "input": input}


class Claude(Program):
    """Claude Code."""

    name = "claude"
    executable = "@anthropic-ai/claude-code-linux-ARCH/claude"
    shell = "Bash"

    def build_command(self, program: Path, url: str) -> list[str]:
        stream = ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
        words = [str(program), "-p", PROMPT, "--model", "claude-sonnet-4-5", *stream]
        return [*words, "--dangerously-skip-permissions"]

    def build_environment(self, home: Path, url: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # else it refuses to skip its questions for root
        }

    def call_agent(self) -> Call:
        asked = {"description": "A part of it", "prompt": "inner task"}
        kind = {"subagent_type": "general-purpose", "run_in_background": False}
        return {"name": "Agent", "input": asked | kind}

    def add_server(self, home: Path, name: str, command: Sequence[str]) -> None:
        _add_server(home / ".claude.json", name, {"type": "stdio", **_describe(command)})


class Codex(Program):
    """Codex CLI."""

    name = "codex"
    executable = "@openai/codex-linux-ARCH/vendor/*/bin/codex"
    shell, argument = "exec_command", "cmd"
    spoken_by = "/v1/responses"

    def build_command(self, program: Path, url: str) -> list[str]:
        free = "--dangerously-bypass-approvals-and-sandbox"
        address = ["-c", f'model_providers.loop.base_url="{url}/v1"']
        return [str(program), "exec", "--json", "--skip-git-repo-check", free, *address, PROMPT]

    def build_environment(self, home: Path, url: str) -> dict[str, str]:
        return {"CODEX_HOME": str(home / ".codex"), "LOOP_KEY": "none"}

    def write_settings(self, home: Path, project: Path) -> None:
        # gpt-5.5 is offered apply_patch as a tool that takes text.
        config = f"""\
model = "gpt-5.5"
model_provider = "loop"

[model_providers.loop]
name = "loop"
base_url = "http://127.0.0.1/v1"
wire_api = "responses"
env_key = "LOOP_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."{project}"]
trust_level = "trusted"
"""
        _write(home / ".codex" / "config.toml", config)

    def call_shell(self, command: str) -> Call:
        return {"name": self.shell, "input": {"cmd": command}}

    def call_patch(self, name: str, line: str) -> Call:
        """The model adds a file."""
        patch = f"*** Begin Patch\n*** Add File: {name}\n+{line}\n*** End Patch\n"
        return {"name": "apply_patch", "arguments": patch}

    def call_agent(self) -> Call:
        return {"name": "multi_agent_v1.spawn_agent", "input": {"message": "inner task"}}

    def add_server(self, home: Path, name: str, command: Sequence[str]) -> None:
        table = [f"{key} = {json.dumps(value)}" for key, value in _describe(command).items()]
        table.append("required = true")  # else it asks its model before the server is ready
        with (home / ".codex" / "config.toml").open("a") as config:
            config.write("\n".join(["", f"[mcp_servers.{name}] # added", *table, ""]))

    def call_server(self, server: str, tool: str, input: dict[str, Any]) -> Call:
        return {"name": f"mcp__{server}.{tool}", "input": input}


class Gemini(Program):
    """Gemini CLI."""

    name = "gemini"
    executable = "@google/gemini-cli/bundle/gemini.js"
    shell = "run_shell_command"
    spoken_by = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"

    def build_command(self, program: Path, url: str) -> list[str]:
        words = ["-p", PROMPT, "-m", "gemini-2.5-flash", "-o", "stream-json", "--yolo"]
        return [shutil.which("node") or "node", str(program), *words]

    def build_environment(self, home: Path, url: str) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",  # else the hooks of a project do not run
            "NO_COLOR": "1",
        }

    def write_settings(self, home: Path, project: Path) -> None:
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        }
        _write(home / ".gemini" / "settings.json", json.dumps(settings, indent=2))

    def call_agent(self) -> Call:
        return {"name": "invoke_agent", "input": {"agent_name": "generalist", "prompt": "inner"}}

    def add_server(self, home: Path, name: str, command: Sequence[str]) -> None:
        _add_server(home / ".gemini" / "settings.json", name, _describe(command))

    def call_server(self, server: str, tool: str, input: dict[str, Any]) -> Call:
        return {"name": f"mcp_{server}_{tool}", "input": input}


class Copilot(Program):
    """Copilot CLI."""

    name = "copilot"
    executable = "@github/copilot-linux-ARCH/copilot"
    shell = "bash"
    spoken_by = "/v1/chat/completions"

    def build_command(self, program: Path, url: str) -> list[str]:
        return [str(program), "-p", PROMPT, "--allow-all-tools", "--trust-folder"]

    def build_environment(self, home: Path, url: str) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "gpt-5",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def call_agent(self) -> Call:
        asked = {"agent_type": "general-purpose", "prompt": "inner task", "mode": "sync"}
        return {"name": "task", "input": asked | {"description": "A part", "name": "part"}}


class OpenCode(Program):
    """OpenCode."""

    name = "opencode"
    executable = "opencode-linux-ARCH/bin/opencode"
    shell = "bash"
    spoken_by = "/v1/chat/completions"

    def build_command(self, program: Path, url: str) -> list[str]:
        return [str(program), "run", PROMPT]

    def build_environment(self, home: Path, url: str) -> dict[str, str]:
        quiet = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        # With a plugin in its folder it wants a package from the registry, and waits for it.
        wait = "npm_config_fetch_retry"
        no_registry = {"npm_config_registry": NOWHERE, f"{wait}_mintimeout": "1"}
        return quiet | no_registry | {f"{wait}_maxtimeout": "1", "LOOP_URL": f"{url}/v1"}

    def write_settings(self, home: Path, project: Path) -> None:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "loop",
            "options": {"baseURL": "{env:LOOP_URL}", "apiKey": "none"},
            "models": {"m": {"name": "m"}},
        }
        settings = {"autoupdate": False, "model": "loop/m", "provider": {"loop": provider}}
        _write(home / ".config" / "opencode" / "opencode.json", json.dumps(settings, indent=2))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _describe(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _add_server(path: Path, name: str, server: dict[str, Any]) -> None:
    settings = json.loads(path.read_text()) if path.exists() else {}
    settings.setdefault("mcpServers", {})[name] = server
    _write(path, json.dumps(settings, indent=2))


PROGRAMS: dict[str, Program] = {
    one.name: one for one in (Claude(), Codex(), Gemini(), Copilot(), OpenCode())
}
