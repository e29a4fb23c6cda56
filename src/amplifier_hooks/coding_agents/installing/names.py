"""The agents that can be guarded, by the names of their commands; cheap to import."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "copilot": "Copilot CLI",
    "cursor": "Cursor",
    "opencode": "OpenCode",
}
