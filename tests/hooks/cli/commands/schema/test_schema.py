"""amplifier schema: for editors."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_hooks.cli.commands.schema.schemas import write_bundle_schema
from tests.hooks.cli.program import invoke


def test_the_schema_is_printed_or_written(home: Path) -> None:
    """The same either way."""
    printed = invoke("schema")
    assert printed.code == 0
    assert json.loads(printed.stdout) == write_bundle_schema()
    written = invoke("schema", "--write", "deep/down/schema.json")
    assert (written.code, written.stdout) == (0, "Wrote deep/down/schema.json\n")
    assert (home / "deep/down/schema.json").read_text() == printed.stdout
