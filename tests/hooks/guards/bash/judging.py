"""One check asked about every command of a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amplifier_hooks.guards.bash.situations import Objection, Situation, list_situations
from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.bash.workspace import Workspace


def ask(check: Callable[[Situation], Objection | None], source: str) -> str | None:
    """`deny`, `ask` or None: the first objection to a command of the script."""
    workspace = Workspace(Path("/project"), Path("/home/me"))
    found = (check(situation) for situation in list_situations(unwrap_command(source), workspace))
    return next((objection[0] for objection in found if objection is not None), None)
