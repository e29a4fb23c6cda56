"""Which records are wanted: what the options say, with ids as lists show them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from amplifier_audit import LogFiles
    from amplifier_hooks.trails.filters import Filter

# The session of a record stands between these two members.
_SESSION = re.compile(rb'"mono":\d+,"session":("(?:[^"\\]|\\.)*"),"turn"')


def make_filter(files: LogFiles, wanted: dict[str, str | None]) -> Filter:
    """The filter; the session may be given by the start of its id."""
    from amplifier_hooks.trails.filters import Filter

    given = wanted.get("session")
    return Filter(**{**wanted, "session": _find_session(files, given) if given else None})


def _find_session(files: LogFiles, given: str) -> str:
    known = list_session_ids(files)
    begun = [one for one in sorted(known) if one.startswith(given)]
    if given in known or not begun:
        return given
    if len(begun) > 1:
        raise click.UsageError(f"Several sessions begin with {given!r}: {', '.join(begun[:5])}")
    return begun[0]


def list_session_ids(files: LogFiles) -> set[str]:
    """The session of a log and its sub-agents."""
    from amplifier_audit.log_directory import read_lines

    lines = (line for path in files.paths for _, line in read_lines(path))
    texts = {found.group(1) for line in lines for found in _SESSION.finditer(line)}
    return {str(json.loads(text)) for text in texts}
