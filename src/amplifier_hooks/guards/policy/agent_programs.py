"""The table of coding agents that can be started from a command line: data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """One agent: what it is called, and by which words it runs without what guards it."""

    names: tuple[str, ...]
    """Of its program, and of the packages that have it."""
    guard: str = ""
    """What `amplifier guard` calls it; empty if there is no guard for it."""
    off: tuple[str, ...] = ()
    """Options that leave hooks or questions out."""
    starts: tuple[str, ...] = ()
    """Words by which it starts, where another program may have its name; else any do."""
    found_above: bool = False
    """Whether it takes hooks of a project from folders above the one that it is started in."""


AGENT_PROGRAMS = (
    AgentProgram(
        ("claude", "claude-code"),
        "claude",
        (
            "--bare",
            "--restricted",
            "--safe-mode",
            "--setting-sources",
            "--settings",
            "--dangerously-skip-permissions",
            "--allow-dangerously-skip-permissions",
        ),
    ),
    AgentProgram(
        ("codex",),
        "codex",
        (
            "--disable",
            "--ignore-user-config",
            "--profile",
            "-p",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
            "--yolo",
        ),
        found_above=True,
    ),
    AgentProgram(
        ("gemini", "gemini-cli"),
        "gemini",
        ("--acp", "--experimental-acp", "--skip-trust", "--yolo", "-y"),
    ),
    AgentProgram(("copilot",), "copilot", ("--acp", "--config-dir", "--yolo")),
    AgentProgram(("cursor-agent",), "cursor", ("--yolo",)),
    AgentProgram(("opencode", "opencode-ai"), "opencode", ("--pure",), found_above=True),
    AgentProgram(("aider", "aider-chat")),
    AgentProgram(("amp",), starts=("-x", "--execute", "--stream-json", "--dangerously-allow-all")),
    AgentProgram(("auggie",)),
    AgentProgram(("cline",)),
    AgentProgram(("codebuddy", "codebuddy-code")),
    AgentProgram(("crush",), starts=("run", "-y", "--yolo")),
    AgentProgram(("droid",), starts=("exec",)),
    AgentProgram(("goose", "goose-cli"), starts=("run", "session", "acp", "web")),
    AgentProgram(("iflow", "iflow-cli")),
    AgentProgram(("kilocode",)),
    AgentProgram(("kiro-cli", "kiro-cli-chat")),
    AgentProgram(("openhands", "openhands-ai")),
    AgentProgram(("plandex",)),
    AgentProgram(("q",), starts=("chat",)),
    AgentProgram(("qodercli",)),
    AgentProgram(("qwen", "qwen-code")),
)
"""A program is found by its name, wherever it is and whatever runs it."""

AGENT_VARIABLES = frozenset(
    {"CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE", "CLAUDE_CONFIG_DIR", "CODEX_HOME"}
    | {"COPILOT_HOME", "GEMINI_CLI_HOME"}
    | {"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"}
    | {"OPENCODE_CONFIG_CONTENT", "XDG_CONFIG_HOME"}
)
"""Variables that say where agents have their settings, or switch hooks off."""
