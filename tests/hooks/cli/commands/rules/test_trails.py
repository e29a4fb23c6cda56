"""Which sessions a command about rules looks at."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from amplifier_hooks.cli.commands.audit.options import select
from tests.hooks.cli.commands.rules.conftest import Record


def test_all_sessions_of_the_folder_or_those_that_are_named(project: Path, record: Record) -> None:
    """A session of another folder is not looked at unless it is named."""
    with record("here") as here:
        pass
    assert select([]) == [here.path]
    assert select(["her"]) == [here.path]
    with pytest.raises(click.UsageError, match="nowhere"):
        select(["nowhere"])
