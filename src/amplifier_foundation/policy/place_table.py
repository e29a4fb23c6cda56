"""The table of places that govern the agent or run programs for the person: data only.

What is listed runs without anybody running the project: by git, another agent, an editor, a shell,
the desktop. What the project itself runs (Makefile, package.json, CI) is the agent's ordinary work
and is reviewed as such. `.envrc` is left out because direnv trusts it by content.
"""

from __future__ import annotations

OWN_FOLDER = "amplifier"
"""The name of our folder below the person's data and configuration folders."""

GIT_RUNS = ("config", "config.worktree", "hooks", "commondir")
"""What makes git run programs, or read its configuration elsewhere, inside a git directory."""

# Files and folders rather than the whole folder of a program: they also keep working copies and
# caches there, too large to be sealed, and change them while they run.
AGENTS = (
    ".amazonq/cli-agents",
    ".amazonq/mcp.json",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/plugins",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills",
    ".codex/config.toml",
    ".codex/hooks",
    ".codex/hooks.json",
    ".codex/prompts",
    ".codex/rules",
    ".codex/skills",
    ".continue/config.json",
    ".continue/config.ts",
    ".continue/config.yaml",
    ".continue/mcpServers",
    ".copilot/config.json",
    ".copilot/hooks",
    ".copilot/mcp-config.json",
    ".copilot/settings.json",
    ".cursor/cli-config.json",
    ".cursor/cli.json",
    ".cursor/commands",
    ".cursor/environment.json",
    ".cursor/hooks",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".cursor/worktrees.json",
    ".gemini/.env",
    ".gemini/commands",
    ".gemini/extensions",
    ".gemini/hooks",
    ".gemini/settings.json",
    ".gemini/trustedFolders.json",
    ".junie/mcp",
    ".kiro/agents",
    ".kiro/hooks",
    ".kiro/settings",
    ".qwen/commands",
    ".qwen/extensions",
    ".qwen/hooks",
    ".qwen/settings.json",
    ".roo/mcp.json",
    ".windsurf/hooks.json",
    ".windsurf/mcp_config.json",
    ".windsurf/workflows",
)
"""What other agents run or obey: hooks, servers to start, permissions, commands with programs."""

PROJECT = (
    *AGENTS,
    ".github/copilot",
    ".github/hooks",
    ".hg/hgrc",
    ".jj/repo/config.toml",
    ".mcp.json",
    ".opencode/agent",
    ".opencode/agents",
    ".opencode/command",
    ".opencode/commands",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".opencode/package.json",
    ".opencode/plugin",
    ".opencode/plugins",
    ".opencode/tool",
    ".opencode/tools",
    "opencode.json",
    "opencode.jsonc",
    # editors: tasks on opening a folder or saving a file, programs that settings name
    ".exrc",
    ".idea/runConfigurations",
    ".idea/startup.xml",
    ".idea/watcherTasks.xml",
    ".nvim.lua",
    ".nvimrc",
    ".vimrc",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".zed/debug.json",
    ".zed/settings.json",
    ".zed/tasks.json",
)
"""Sealed below every root, and for file tools at any depth."""

NAMED_ONLY = (".git",)
"""Folders in which file tools write nothing at any depth, but commands must."""

HOME = (
    # shells
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".mkshrc",
    ".oh-my-zsh",
    ".profile",
    ".tcshrc",
    ".xonshrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    # the desktop and timers
    ".local/share/applications",
    ".local/share/dbus-1",
    ".local/share/systemd",
    ".pam_environment",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    "Library/LaunchAgents",
    # keys, and what signs and logs in
    ".gnupg",
    ".ssh",
    # programs by name
    ".cargo/bin",
    ".local/bin",
    # settings that name programs to run
    ".aws/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".docker/config.json",
    ".emacs",
    ".emacs.d",
    ".gdbinit",
    ".gitconfig",
    ".gradle/init.d",
    ".gradle/init.gradle",
    ".hgrc",
    ".kube/config",
    ".lldbinit",
    ".local/share/direnv",
    ".npmrc",
    ".pdbrc",
    ".psqlrc",
    ".screenrc",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".claude.json",
    *AGENTS,
)
"""Sealed below the person's home."""

CONFIG = (
    "Code/User",
    "Cursor/User",
    "VSCodium/User",
    "autostart",
    "direnv",
    "elvish",
    "emacs",
    "environment.d",
    "fish",
    "gdb",
    "git",
    "hg",
    "jj",
    "mise",
    "nushell",
    "nvim",
    "opencode",
    "plasma-workspace",
    "powershell",
    "systemd",
    "tmux",
    "xonsh",
    "zed",
    "zsh",
)
"""Sealed below the person's configuration folder."""

ZSH = (".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc")
"""Sealed in ZDOTDIR, if that is set."""

SYSTEM = (
    "/etc/bash.bashrc",
    "/etc/cron.d",
    "/etc/crontab",
    "/etc/environment",
    "/etc/gitconfig",
    "/etc/ld.so.preload",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/ssh",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/systemd",
    "/etc/zsh",
    "/var/spool/cron",
)
"""Sealed when a root is as wide as the machine."""
