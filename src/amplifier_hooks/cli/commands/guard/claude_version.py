"""Which Claude Code is installed: an old one is open where it cannot reach a local server."""

from __future__ import annotations

from pathlib import Path

from amplifier_core.errors import AmplifierError
from amplifier_hooks.coding_agents.installing.versions import ask_version, find_program, is_older

_CLOSED_SINCE = "2.1.325"


class TooOld(AmplifierError):
    """This version would let calls through."""


def check_version() -> str:
    """Refuse a Claude Code that does not block when a hook's server fails: TooOld.

    Returns what a person must find out, where the version cannot be read.
    """
    program = find_program(("claude",), Path.cwd())
    found = "" if program is None else ask_version(program)
    if not found:
        wanted = f"Claude Code {_CLOSED_SINCE} or later"
        return f"Use {wanted}: older ones let calls through when HTTP fails."
    if is_older(found, _CLOSED_SINCE):
        raise TooOld(
            f"Claude Code {found} may let calls through when a hook's server cannot be reached; "
            f"update it to {_CLOSED_SINCE} or later, or leave out --http"
        )
    return ""
