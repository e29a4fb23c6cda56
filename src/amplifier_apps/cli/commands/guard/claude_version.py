"""Which Claude Code is installed: an old one is open where it cannot reach a local server."""

from __future__ import annotations

import re
import shutil
import subprocess

from amplifier_core.errors import AmplifierError

_CLOSED_SINCE = (2, 1, 325)
_SECONDS = 20.0


class TooOld(AmplifierError):
    """This version would let calls through."""


def check_version() -> str:
    """Refuse a Claude Code that does not block when a hook's server fails: TooOld.

    Returns what a person must find out, where the version cannot be read.
    """
    wanted = ".".join(map(str, _CLOSED_SINCE))
    found = _read_version()
    if found is None:
        return f"Use Claude Code {wanted} or later: older ones let calls through when HTTP fails."
    if found < _CLOSED_SINCE:
        text = ".".join(map(str, found))
        raise TooOld(
            f"Claude Code {text} may let calls through when a hook's server cannot be reached; "
            f"update it to {wanted} or later, or leave out --http"
        )
    return ""


def _read_version() -> tuple[int, ...] | None:
    program = shutil.which("claude")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, found.groups())) if found else None
