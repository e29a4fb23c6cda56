"""amplifier schema: for editors."""

from __future__ import annotations

import json
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_hooks.agent import bundles
from amplifier_hooks.cli.commands.init import write_bundle
from amplifier_hooks.cli.commands.schema import (
    SHORT_FORMS,
    find_modules,
    find_options,
    relax,
    write_bundle_schema,
    write_cases_schema,
    write_options,
)
from tests.docs.yaml_examples import find_model, list_examples
from tests.hooks.agent.bundles.test_schema import MISTAKES
from tests.hooks.cli.program import invoke
from tests.support.json_schema import Validator

ROOT = Path(__file__).parents[5]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCHEMA = write_bundle_schema()
VALIDATOR = Validator(SCHEMA)

# What two places of a file say together, and a number that JSON does not have.
NOT_IN_A_SCHEMA = {"the same hook twice", "endless approval timeout"}


class EditorLoader(yaml.SafeLoader):
    """YAML 1.2, as editors read it: `off` is a text."""


EditorLoader.yaml_implicit_resolvers = {
    first: [(tag, regex) for tag, regex in found if tag != "tag:yaml.org,2002:bool"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
EditorLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf")
)


def read(text: str) -> Any:
    """A bundle as an editor reads it."""
    return yaml.load(text, EditorLoader)


def test_every_example_of_the_documentation_is_valid() -> None:
    """An editor must not mark what the documentation shows."""
    shown = (one for page in PAGES for one in list_examples(page) if one.kind == "bundle")
    tried = [one.text for one in shown]
    assert len(tried) > 50
    for example in tried:
        assert list(VALIDATOR.find_problems(read(example))) == [], example


@pytest.mark.parametrize("offline", [True, False])
def test_what_init_writes_is_valid(offline: bool) -> None:
    """So is the default bundle."""
    assert list(VALIDATOR.find_problems(read(write_bundle("x", offline=offline)))) == []
    default = Path(bundles.__file__).with_name("default.yaml").read_text(encoding="utf-8")
    assert list(VALIDATOR.find_problems(read(default))) == []


@pytest.mark.parametrize("name", sorted(MISTAKES.keys() - NOT_IN_A_SCHEMA))
def test_every_mistake_that_a_bundle_is_refused_for_is_marked(name: str) -> None:
    """While it is being written."""
    assert not VALIDATOR.accepts(read(MISTAKES[name][0]))


@pytest.mark.parametrize(
    "text",
    [
        "hooks: [{module: hooks-rate-limit, config: {actoin: deny}}]",
        "hooks: [{module: hooks-rate-limit, config: {action: denyy}}]",
        "hooks: [{module: hooks-command-guard, config: {deny: rm}}]",
        "providers: [{module: provider-openai, config: {temperature: warm}}]",
        "sandbox: maybe",
        "session: {orchestrator: {module: loop-basic, config: {max_turns: 0}}}",
    ],
)
def test_a_wrong_option_of_a_module_is_marked(text: str) -> None:
    """Misspelt, of the wrong kind, or out of range."""
    assert not VALIDATOR.accepts(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "hooks: [{module: hooks-rate-limit, enabled: '${ON:+true}', config: {priority: '${P}'}}]",
        "hooks: [./mine.py, {module: somebody-elses, config: {anything: [1]}}]",
        "sandbox: off",
        "sandbox: {mode: off, network: deny}",
        "session: {orchestrator: {module: loop-basic, config: {max_turns: -1}}}",
        "x-anchors: {a: 1}",
        "hooks: [{module: hooks-redaction, config: null}]",
    ],
)
def test_what_a_bundle_may_say_is_taken(text: str) -> None:
    """Variables, modules of others, short forms, keys of one's own."""
    assert list(VALIDATOR.find_problems(read(text))) == []


def test_every_key_has_a_description() -> None:
    """An editor shows it beside the key."""
    sections = [SCHEMA, *(SCHEMA["$defs"][name] for name in ("Session", "Agent", "Limits"))]
    sections += [SCHEMA["$defs"][name] for name in ("Approval", "Audit")]
    sections += [SCHEMA["$defs"][name]["anyOf"][1] for name in ("Module", "Sandbox")]
    for section in sections:
        for key, schema in section["properties"].items():
            assert schema.get("description"), key


def test_it_needs_nothing_from_elsewhere() -> None:
    """Every reference leads to a definition of its own."""
    found = re.findall(r'"\$ref": "([^"]*)"', json.dumps(SCHEMA))
    assert found
    assert {one.removeprefix("#/$defs/") for one in found} <= SCHEMA["$defs"].keys()


FOLDER = Path(__file__).resolve().parents[5] / "examples" / "hooks"
EXAMPLES = [yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.cases.yaml"))]


@pytest.fixture(scope="module")
def validator() -> Validator:
    """With the schema that editors get."""
    return Validator(json.loads(json.dumps(write_cases_schema())))


def test_cases_that_can_be_run_have_no_problem(validator: Validator) -> None:
    """Whole files, and the list of cases alone."""
    assert len(EXAMPLES) == 5
    for example in EXAMPLES:
        assert list(validator.find_problems(example)) == []
        assert list(validator.find_problems(example["cases"])) == []


@pytest.mark.parametrize(
    "case",
    [
        {"evnt": "tool:pre", "expect": "deny"},
        {"event": "tool", "expect": "deny"},
        {"event": "tool:*", "expect": "deny"},
        {"event": "tool:pre", "expect": "denied"},
        {"event": "tool:pre", "expect": {"acton": "deny"}},
        {"event": "tool:pre", "expect": "deny", "times": "${TIMES}"},
    ],
)
def test_a_mistake_is_found_in_the_editor(validator: Validator, case: dict[str, object]) -> None:
    """There are no variables in cases."""
    assert list(validator.find_problems({"cases": [case]}))


def test_the_command_prints_it() -> None:
    """With a sentence for each key."""
    told = json.loads(invoke("schema", "--cases").stdout)
    assert told == write_cases_schema()
    (file, _) = told["anyOf"]
    case = told["$defs"]["Case"]["properties"]
    answer = told["$defs"]["Answer"]["properties"]
    assert all("description" in one for one in {**file["properties"], **case, **answer}.values())


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


def test_the_schema_is_printed_or_written(home: Path) -> None:
    """The same either way."""
    printed = invoke("schema")
    assert printed.code == 0
    assert json.loads(printed.stdout) == write_bundle_schema()
    written = invoke("schema", "--write", "deep/down/schema.json")
    assert (written.code, written.stdout) == (0, "Wrote deep/down/schema.json\n")
    assert (home / "deep/down/schema.json").read_text() == printed.stdout
