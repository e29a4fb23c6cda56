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
    """Options, or its first word, by which it starts, where the program is more than that."""
    starts_alone: bool = True
    """Whether it starts without any word, too."""
    found_above: bool = False
    """Whether it takes hooks of a project from folders above the one that it is started in."""


AGENT_PROGRAMS = (
    AgentProgram(
        ("claude", "claude-code", "claude-agent-acp", "claude-code-acp"),
        "claude",
        (
            "--bare",
            "--restricted",
            "--safe-mode",
            "--setting-sources",
            "--settings",
            "--plugin-dir",
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
    AgentProgram(
        ("agent",), "cursor", starts=("-p", "--print", "-f", "--force"), starts_alone=False
    ),
    AgentProgram(("cursor",), "cursor", starts=("agent",), starts_alone=False),
    AgentProgram(("gh",), "copilot", starts=("copilot",), starts_alone=False),
    AgentProgram(("opencode", "opencode-ai"), "opencode", ("--pure",), found_above=True),
    AgentProgram(("acli",), starts=("rovodev",), starts_alone=False),
    AgentProgram(("aider", "aider-chat")),
    AgentProgram(("amp",), starts=("-x", "--execute", "--stream-json", "--dangerously-allow-all")),
    AgentProgram(("auggie",)),
    AgentProgram(("ccr", "claude-code-router"), starts=("code",), starts_alone=False),
    AgentProgram(("claude-flow",)),
    AgentProgram(("cline",)),
    AgentProgram(("cn",), starts=("-p", "--print", "--auto")),
    AgentProgram(("codebuddy", "codebuddy-code")),
    AgentProgram(("codebuff",)),
    AgentProgram(("codex-acp",)),
    AgentProgram(("crush",), starts=("run", "-y", "--yolo")),
    AgentProgram(("devin",)),
    AgentProgram(("droid",), starts=("exec",)),
    AgentProgram(("forge", "forgecode"), starts=("-p", "--prompt"), starts_alone=False),
    AgentProgram(("goose", "goose-cli"), starts=("run", "session", "acp", "web")),
    AgentProgram(("gptme",)),
    AgentProgram(("grok", "grok-cli"), starts=("-p", "--prompt")),
    AgentProgram(("happy", "happy-coder")),
    AgentProgram(("iflow", "iflow-cli")),
    AgentProgram(("interpreter", "open-interpreter")),
    AgentProgram(("kilo",), starts=("run",)),
    AgentProgram(("kilocode",)),
    AgentProgram(("kimi", "kimi-cli")),
    AgentProgram(("kiro-cli", "kiro-cli-chat")),
    AgentProgram(("mini", "mini-swe-agent"), starts=("-t", "--task", "-y", "--yolo")),
    AgentProgram(("ollama",), starts=("launch",), starts_alone=False),
    AgentProgram(("openhands", "openhands-ai")),
    AgentProgram(("pi",), starts=("-p", "--print")),
    AgentProgram(("plandex",)),
    AgentProgram(("q",), starts=("chat",)),
    AgentProgram(("qodercli",)),
    AgentProgram(("qwen", "qwen-code")),
    AgentProgram(("sweagent",)),
    AgentProgram(("trae-cli",)),
    AgentProgram(("vibe",), starts=("-p", "--prompt", "--auto-approve")),
)
"""A program is found by its name, wherever it is and whatever runs it."""

AGENT_VARIABLES = frozenset(
    {"CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE", "CLAUDE_CONFIG_DIR", "CODEX_HOME"}
    | {"COPILOT_HOME", "GEMINI_CLI_HOME"}
    | {"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"}
    | {"OPENCODE_CONFIG_CONTENT", "XDG_CONFIG_HOME"}
)
"""Variables that say where agents have their settings, or switch hooks off."""
