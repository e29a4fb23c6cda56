"""The mode of a registry: what the answers of its hooks may do."""

from __future__ import annotations

from typing import Literal, get_args

Mode = Literal["enforce", "run_all", "evaluate_only"]
"""`enforce`: a denial ends the chain. `run_all`: the hooks behind it still run, without effect.
`evaluate_only`, shadow mode: every hook runs, and none has an effect."""

MODES: tuple[Mode, ...] = get_args(Mode)


def choose_mode(wanted: Mode, parent: Mode | None = None) -> Mode:
    """The mode of a registry that wants this one, below a registry of that mode.

    The hooks of a parent run in its children, so a child cannot take their effect away.
    """
    if wanted not in MODES:
        raise ValueError(f"A registry's mode is one of {', '.join(MODES)}, got {wanted!r}")
    if wanted == "evaluate_only" and parent not in (None, wanted):
        raise ValueError(
            "evaluate_only: the hooks of the parent have an effect, and so they have in its "
            "sub-agents; set session.evaluate_only in the parent's plan"
        )
    return wanted if parent is None else max(wanted, parent, key=MODES.index)
