"""The schema of bundles: it takes what is right, and refuses what it can know to be wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_hooks.agent import bundles
from amplifier_hooks.cli.commands.init import write_bundle
from amplifier_hooks.cli.commands.schema.schemas import write_bundle_schema
from tests.docs.yaml_examples import list_examples
from tests.hooks.agent.bundles.test_schema import MISTAKES
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
