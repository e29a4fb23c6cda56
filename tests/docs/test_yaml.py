"""Every YAML block of the pages is what it seems to be: a bundle, rules, a script, cases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from amplifier_core.mount_plan.schema import Hook, Limits, Section, Session
from amplifier_hooks.agent.bundles.schema import Agent, Approval, Audit, BundleFile, Sandbox
from amplifier_hooks.agent.providers.scripted import read_script
from amplifier_hooks.approvals.rules import RulesApproval
from amplifier_hooks.guards.rules.loading import Config, read_rules
from amplifier_hooks.insight.cases.files import read_cases
from tests.docs.yaml_examples import (
    MODULES,
    Example,
    find_model,
    find_named,
    list_examples,
    list_modules,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
EXAMPLES = [example for page in PAGES for example in list_examples(page)]


BUNDLES = [one for one in EXAMPLES if one.kind == "bundle"]
FILES = [one for one in EXAMPLES if one.kind in {"rules", "approval rules", "script", "cases"}]


SECTIONS = (BundleFile, Session, Limits, Hook, Agent, Approval, Audit, Sandbox)
TABLES = "".join((ROOT / "docs" / name).read_text() for name in ("bundles.md", "sandbox.md"))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_of_a_bundle_has_a_row(section: type[Section]) -> None:
    """A key that is declared and not explained would be known to editors only."""
    prefix = "limits." if section is Limits else ""
    rows = [line for line in TABLES.splitlines() if line.startswith("|")]
    keys = {key for row in rows for key in re.findall("`([^`]*)`", row.split("|")[1])}
    wanted = {f"{prefix}{key}" for key in section.model_fields} - {"limits"}
    assert wanted <= keys


def save(example: Example, folder: Path) -> Path:
    """As a file."""
    path = folder / "example.yaml"
    path.write_text(example.text, encoding="utf-8")
    return path


def test_it_is_known_what_each_block_is() -> None:
    """What no test below looks at would rot."""
    assert [one.name for one in EXAMPLES if not one.kind] == []


@pytest.mark.parametrize("example", BUNDLES, ids=lambda example: example.name)
async def test_a_bundle_loads_and_its_modules_take_their_options(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever copies it gets a bundle that works."""
    named = find_named(example.text)
    for entry in list_modules(example.text, tmp_path):
        config = entry.get("config") or {}
        if entry["module"] in named:
            await find_model(MODULES[entry["module"]], config, monkeypatch)
            monkeypatch.undo()
        if entry["module"] == "hooks-rules":
            read_rules(Config(rules=config.get("rules", [])), tmp_path)


@pytest.mark.parametrize("example", FILES, ids=lambda example: example.name)
def test_a_file_can_be_read_by_what_it_is_for(example: Example, tmp_path: Path) -> None:
    """hooks-rules, `--approve rules:FILE`, the model server, `amplifier hooks test`."""
    path = save(example, tmp_path)
    if example.kind == "rules":
        assert read_rules(Config(file=str(path)), tmp_path)
    elif example.kind == "approval rules":
        assert RulesApproval(path, tmp_path).governing_files == (path,)
    elif example.kind == "script":
        assert len(read_script(path)) == len(example.content)
    else:
        assert len(read_cases(path).cases) == len(example.content["cases"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hooks: []", "bundle"),
        ("sandbox: required", "bundle"),
        ("rules: [{name: a, decision: deny}]", "approval rules"),
        ("rules: [{name: a, action: deny}]", "rules"),
        ("cases: []", "cases"),
        ("- text: hello", "script"),
        ("on: push\njobs: {}", "workflow"),
        ("scrape_configs: []", "prometheus"),
        ("hoks: []", ""),
        ("- hello", ""),
        ("just text", ""),
    ],
)
def test_a_block_is_known_by_its_keys(text: str, kind: str) -> None:
    """A key that is misspelled makes it unknown."""
    assert yaml.safe_load(text) is not None
    assert Example(Path("page.md"), 1, text).kind == kind
