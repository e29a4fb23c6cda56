"""The words by which a check tells its hook what to do: they stand in the event itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from amplifier_core.events import PROMPT_SUBMIT

_MARK = re.compile(r"amplifier-check:([a-z-]+)")


def write_mark(case: str) -> str:
    """The word for one case."""
    return f"amplifier-check:{case}"


def write_command(case: str, number: int = 0) -> str:
    """A harmless command with that word in it; with another number it is not the same again."""
    return f"echo {write_mark(case)} {number}"


def find_case(event: str, data: Mapping[str, Any]) -> str | None:
    """The case that an event is about, if it is one of a check."""
    told = data.get("prompt") if event == PROMPT_SUBMIT else data.get("tool_input")
    found = _MARK.search(json.dumps(told, default=str))
    return found.group(1) if found else None
