"""The JSON schema of files with cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from amplifier_hooks.cli.commands.schema.schemas import write_cases_schema
from tests.hooks.cli.program import invoke
from tests.support.json_schema import Validator

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
