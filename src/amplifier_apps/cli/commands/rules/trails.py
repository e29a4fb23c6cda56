"""The trails that a command about rules looks at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click


def find_trails(names: Sequence[str]) -> list[Path]:
    """Those that are named, or all of the sessions in this folder."""
    from amplifier_foundation.history import TrailNotFound, select_trails

    try:
        return select_trails(names)
    except TrailNotFound as error:
        raise click.UsageError(str(error)) from error
