"""Examples of commands whose help has no list of its own."""

from __future__ import annotations

EXAMPLES = {
    "sessions list": ("sessions list", "sessions list --json"),
    "sessions show": ('sessions show "fix the parser"', "sessions show 3f0c --json"),
    "sessions resume": ('sessions resume "fix the parser"',),
    "sessions delete": ("sessions delete 3f0c", 'sessions delete "fix the parser" --yes'),
    "trust list": ("trust list", "trust list --json"),
    "hooks list": ("hooks list", "hooks list --event tool:pre", "hooks list --json"),
    "hooks trace": (
        'hooks trace "delete the old logs"',
        """hooks trace --tool Bash --input '{"command": "rm -rf build"}'""",
        "hooks trace --event session:start",
    ),
    "hooks stats": (
        "hooks stats",
        "hooks stats --since 2026-11-01 --json",
        "hooks stats --shadow",
        "hooks stats --live",
    ),
    "hooks test": (
        "hooks test hooks/first_hook.py",
        "hooks test hooks/first_hook.py --watch",
        "hooks test hooks/first_hook.py --write hooks/first_hook.cases.yaml",
        "hooks test hooks/first_hook.cases.yaml",
    ),
    "modules list": ("modules list", "modules list --kind hook"),
    "modules validate": ("modules validate ./my_hook.py", "modules validate hooks-redaction"),
    "audit checkpoint": ("audit checkpoint",),
    "audit create-key": ("audit create-key ~/audit.key",),
    "audit prove": ("audit prove ./trail 17",),
    "audit redact": ("audit redact ./trail 9f3c2a --by kim --reason 'holds a name'",),
    "audit serve": ("audit serve /var/lib/amplifier --socket /run/amplifier.sock --user kim",),
    "audit stats": ("audit stats",),
    "audit verify": ("audit verify",),
    "backups": ("backups list", "backups restore 20261117"),
    "backups list": ("backups list", "backups list --file notes.txt"),
    "backups restore": ("backups restore 20261117",),
    "approvals list": ("approvals list", "approvals list --all --json"),
    "approvals show": ("approvals show 3f2a", "approvals show 3f2a --json"),
    "approvals allow": (
        "approvals allow 3f2a",
        "approvals allow 3f2a --always exact --days 7",
    ),
    "approvals deny": ("approvals deny 3f2a --comment 'not on a Friday'",),
    "approvals watch": ("approvals watch", "approvals watch --json"),
    "approvals rules": ("approvals rules", "approvals rules --all"),
    "approvals revoke": ("approvals revoke 6a0a16fc",),
    "mcp tools list": ("mcp tools list", "mcp tools list --json"),
    "mcp tools show": ("mcp tools show time", "mcp tools show time get_current_time"),
    "mcp tools allow": ("mcp tools allow time get_current_time",),
    "mcp tools forget": ("mcp tools forget time", "mcp tools forget time convert_time --yes"),
    "tokens logout": ("tokens logout ann",),
    "tokens add": (
        "tokens add build-7 --scope agent",
        "tokens add ann --scope read --scope decide",
    ),
    "tokens list": ("tokens list", "tokens list --all --json"),
    "tokens revoke": ("tokens revoke 6a0a16fc",),
    "completion": ("completion bash", "completion zsh"),
    "doctor": ("doctor", "doctor --json"),
}


def list_examples(command_path: str) -> list[str]:
    """The examples of a command, as they are typed."""
    program, _, command = command_path.partition(" ")
    return [f"  {program} {one}" for one in EXAMPLES.get(command, ())]
