"""The options of modules, as schemas."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import pytest

from amplifier_hooks.cli.commands.schema.schemas import (
    SHORT_FORMS,
    find_modules,
    find_options,
    relax,
    write_options,
)
from tests.docs.yaml_examples import find_model

NEEDED: dict[str, dict[str, Any]] = {
    "hooks-model-judge": {"scope": "reading files below the project"},
    "hooks-test-runner": {"command": ["pytest"]},
}
MODULES = {entry.name: entry for entry in entry_points(group="amplifier.modules")}


@pytest.mark.parametrize("name", sorted(MODULES))
async def test_the_model_is_the_one_that_the_module_reads_its_options_with(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As mounting it shows."""
    entry = find_modules()[name]
    assert find_options(entry) is await find_model(entry, NEEDED.get(name), monkeypatch)


def test_what_is_no_text_may_be_a_substitution() -> None:
    """A number that comes from a variable is a text in the file."""
    schema = {"type": "object", "properties": {"a": {"type": "integer", "default": 3}}}
    assert relax(schema)["properties"]["a"] == {
        "default": 3,
        "anyOf": [{"type": "integer"}, {"$ref": "#/$defs/substitution"}],
    }


def test_other_names_of_an_option_are_known() -> None:
    """Those that modules of the ecosystem have for it."""
    options, _ = write_options(find_modules()["provider-openai"])
    assert options["properties"]["max_tokens"] == {
        "description": "Another name for max_output_tokens."
    }
    assert options["additionalProperties"] is False


def test_every_short_form_is_of_something() -> None:
    """A name that is gone would leave a form without an option."""
    known = set()
    for name, entry in find_modules().items():
        options, definitions = write_options(entry)
        known |= definitions.keys() | {f"{name}.options.{one}" for one in options["properties"]}
    assert SHORT_FORMS.keys() <= known
