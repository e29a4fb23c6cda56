"""amplifier schema: the JSON schema of amplifier.yaml, for editors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from amplifier_core.loader import DISTRIBUTION, ModuleLoader
from amplifier_hooks.agent.bundles.schema import BundleFile
from amplifier_hooks.insight.cases.schema import File

EPILOG = """\b
Examples:
  amplifier schema --write .amplifier/schema.json
  amplifier schema > schema.json
  amplifier schema --cases --write .amplifier/cases.json

Editors that use the YAML language server find it by this line on top of amplifier.yaml, which
`amplifier init` writes:

\b
The line:
  # yaml-language-server: $schema=.amplifier/schema.json
"""


@click.command(epilog=EPILOG)
@click.option("--cases", is_flag=True, help="Of files with cases, for `amplifier hooks test`.")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Into this file.")
def schema(cases: bool, write: Path | None) -> None:
    """Print the JSON schema of amplifier.yaml: keys, values, and the options of our modules."""
    text = render_schema(cases=cases)
    if write is None:
        click.echo(text, nl=False)
        return
    write.parent.mkdir(parents=True, exist_ok=True)
    write.write_text(text, encoding="utf-8")
    click.echo(f"Wrote {write}")


def render_schema(*, cases: bool = False) -> str:
    """The schema of bundles, or of cases, as a file holds it."""
    import json

    written = write_cases_schema() if cases else write_bundle_schema()
    return json.dumps(written, indent=1) + "\n"


Schema = dict[str, Any]
SUBSTITUTION: Schema = {"$ref": "#/$defs/substitution"}
_SCALARS = frozenset({"integer", "number", "boolean"})

# What modules turn into their options before pydantic sees it, so that its schemas lack it.
SHORT_FORMS: dict[str, Schema] = {
    "hooks-linter-feedback.Linter": {"type": "string"},
    "hooks-provenance.Sink": {"type": "string"},
    "provider-scripted.Failure": {"type": "string"},
    "provider-scripted.Usage": {"type": "object"},
    "loop-basic.options.max_turns": {"const": -1},
    "loop-streaming.options.max_turns": {"const": -1},
}


def find_modules() -> dict[str, EntryPoint]:
    """Our own modules, by id."""
    known = ModuleLoader().known()
    return {
        name: entry
        for name, entry in sorted(known.items())
        if entry.dist is not None and entry.dist.name == DISTRIBUTION
    }


def find_options(entry: EntryPoint) -> type[BaseModel]:
    """The model that a module reads its options with: `Config`, or one whose name ends so."""
    names = _get_namespace(entry.load())
    models = {
        name: value
        for name, value in names.items()
        if name.endswith("Config") and isinstance(value, type) and issubclass(value, BaseModel)
    }
    return models.get("Config") or max(models.values(), key=lambda model: len(model.__mro__))


def write_options(entry: EntryPoint) -> tuple[Schema, dict[str, Schema]]:
    """The schema of a module's options, and the definitions that it refers to."""
    template = f"#/$defs/{entry.name}.{{model}}"
    schema = find_options(entry).model_json_schema(ref_template=template)
    definitions = {
        name: _add_short_form(name, relax(one))
        for name, one in ((f"{entry.name}.{key}", one) for key, one in _pop_definitions(schema))
    }
    schema = relax(schema)
    for name, option in schema["properties"].items():
        schema["properties"][name] = _add_short_form(f"{entry.name}.options.{name}", option)
    synonyms: dict[str, str] = _get_namespace(entry.load()).get("SYNONYMS", {})
    for other, own in synonyms.items():
        schema["properties"][other] = {"description": f"Another name for {own}."}
    return {**schema, "additionalProperties": False}, definitions


def _pop_definitions(schema: Schema) -> list[tuple[str, Schema]]:
    return list(schema.pop("$defs", {}).items())


def _add_short_form(name: str, schema: Schema) -> Schema:
    return {"anyOf": [schema, SHORT_FORMS[name]]} if name in SHORT_FORMS else schema


def _get_namespace(mount: Callable[..., Any]) -> dict[str, Any]:
    return vars(sys.modules[mount.__module__])


def wrap_references(schema: Any) -> Any:
    """The same schema in the dialect of editors: beside a reference nothing else counts in it."""
    if isinstance(schema, list):
        return [wrap_references(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: wrap_references(value) for key, value in schema.items()}
    if "$ref" in inner and len(inner) > 1:
        inner["allOf"] = [{"$ref": inner.pop("$ref")}]
    return inner


def relax(schema: Any) -> Any:
    """The same schema for an editor: each value that is no text may also be a substitution."""
    if isinstance(schema, list):
        return [relax(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: relax(value) for key, value in schema.items() if key != "default"}
    inner |= {"default": schema["default"]} if "default" in schema else {}
    if "prefixItems" in inner:  # as the older dialect has it, which editors read
        inner["items"] = inner.pop("prefixItems")
    if isinstance(schema.get("type"), str) and (schema["type"] in _SCALARS or "enum" in schema):
        remarks = ("title", "description", "default")
        described = {key: inner.pop(key) for key in remarks if key in inner}
        return {**described, "anyOf": [inner, SUBSTITUTION]}
    return inner


DIALECT = "http://json-schema.org/draft-07/schema#"


class Generator(GenerateJsonSchema):
    """Without titles and defaults of keys: a key that is left out has no value."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Schema:
        return self.generate_inner(schema["schema"])


def write_bundle_schema() -> Schema:
    """The whole schema; it needs nothing from elsewhere."""
    bundle = wrap_references(relax(BundleFile.model_json_schema(schema_generator=Generator)))
    definitions = bundle.pop("$defs")
    definitions["substitution"] = {"type": "string", "pattern": r"\$\{"}
    configs = list(_write_configs(definitions))
    for name in ("Module", "Hook"):
        entry = {**definitions[name], "allOf": configs}
        entry["properties"]["module"] = _offer_ids(entry["properties"]["module"])
        definitions[name] = {"anyOf": [_offer_ids({"type": "string", "pattern": r"\S"}), entry]}
    # The word alone is short for its mode, and YAML may read `off` as false.
    definitions["Sandbox"] = {"anyOf": [_write_modes(), definitions["Sandbox"]]}
    return {"$schema": DIALECT, **bundle, "title": "amplifier.yaml", "$defs": definitions}


def _offer_ids(text: Schema) -> Schema:
    """Any text, with the modules that come along to choose from."""
    described = {key: one for key, one in text.items() if key == "description"}
    return {**described, "anyOf": [{"enum": list(find_modules())}, text]}


def _write_modes() -> Schema:
    return {"anyOf": [{"enum": ["required", "auto", "off", False]}, SUBSTITUTION]}


def _write_configs(definitions: dict[str, Schema]) -> Iterator[Schema]:
    """For each module that comes along, the options that its entry may have."""
    for name, entry in find_modules().items():
        options, needed = write_options(entry)
        definitions |= needed
        definitions[f"{name}.options"] = options
        config = {"anyOf": [{"$ref": f"#/$defs/{name}.options"}, {"type": "null"}]}
        yield {
            "if": {"properties": {"module": {"const": name}}, "required": ["module"]},
            "then": {"properties": {"config": config}},
        }


def write_cases_schema() -> Schema:
    """The whole schema; a list alone stands for the cases of a file."""
    file = wrap_references(File.model_json_schema(schema_generator=Generator))
    definitions = file.pop("$defs")
    either = {"anyOf": [file, file["properties"]["cases"]], "$defs": definitions}
    return {"$schema": DIALECT, "title": "Cases for hooks", **either}
