"""The JSON schema of files with cases, from the models that they are checked with."""

from __future__ import annotations

from amplifier_hooks.cli.commands.schema.bundle_schema import DIALECT, Generator
from amplifier_hooks.cli.commands.schema.module_options import Schema, wrap_references
from amplifier_hooks.insight.cases.schema import File


def write_schema() -> Schema:
    """The whole schema; a list alone stands for the cases of a file."""
    file = wrap_references(File.model_json_schema(schema_generator=Generator))
    definitions = file.pop("$defs")
    either = {"anyOf": [file, file["properties"]["cases"]], "$defs": definitions}
    return {"$schema": DIALECT, "title": "Cases for hooks", **either}
