"""The page of a module shows options that the module takes, and all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticUndefined

from tests.docs.yaml_examples import MODULES, find_model, find_named, list_examples

PAGES = sorted((Path(__file__).parents[2] / "docs" / "modules").glob("*.md"))
_OPTIONS = re.compile(r"^\| option \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)
_FIRST_CELL = re.compile(r"^\|([^|]*)\|", re.MULTILINE)
_CELLS = re.compile(r"^\| ([^|]*) \| ([^|]*) \|", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_of_a_module_and_shows_it_in_a_bundle(page: Path) -> None:
    """Every page has its module; test_yaml checks that its examples are right."""
    names = {name for name in MODULES if page_of(name) == page}
    assert names
    bundles = [one for one in list_examples(page) if one.kind == "bundle"]
    assert any(names & find_named(one.text) for one in bundles)


def page_of(module: str) -> Path:
    name = "loops" if module.startswith("loop-") else module
    return next(page for page in PAGES if page.stem == name)


def options_in(text: str) -> set[str]:
    """The names in the first column of the table of options; some rows have several."""
    table = _OPTIONS.findall(text)[0]  # a second one is of options within an option
    return {name for cell in _FIRST_CELL.findall(table) for name in re.findall(r"`([^`]+)`", cell)}


NEEDED: dict[str, dict[str, Any]] = {
    "hooks-test-runner": {"command": "true"},
    "hooks-model-judge": {"scope": "reading files below the project"},
}


@pytest.mark.parametrize("module", sorted(MODULES))
async def test_a_page_lists_all_options_and_no_others(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All options in a table."""
    text = page_of(module).read_text()
    model = await find_model(MODULES[module], NEEDED.get(module), monkeypatch)
    fields = {field.alias or name for name, field in model.model_fields.items()}
    assert options_in(text) == fields


def defaults_in(text: str) -> dict[str, str]:
    """What the table gives as the default of each option; a row may be about several."""
    table = _OPTIONS.findall(text)[0]
    return {
        name: _THOUSANDS.sub("", default)
        for names, default in _CELLS.findall(table)
        for name in re.findall(r"`([^`]+)`", names)
    }


def list_words(default: Any) -> list[str]:
    """How a page writes a default; none for what it has to describe in words."""
    if default is None or default is PydanticUndefined:
        return []
    if isinstance(default, str):
        return [default]
    if isinstance(default, bool):
        return [str(default).lower()]
    if isinstance(default, int | float):
        return [f"{default:.15g}"]
    parts = [*default, *default.values()] if isinstance(default, dict) else default
    return [word for part in parts for word in list_words(part)]


@pytest.mark.parametrize("module", sorted(MODULES))
async def test_a_page_gives_the_default_of_each_option(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default that a reader finds is the one that holds."""
    page = page_of(module).read_text()
    written = defaults_in(page)
    model = await find_model(MODULES[module], NEEDED.get(module), monkeypatch)
    for name, field in model.model_fields.items():
        cell = written[field.alias or name]
        where = page if "below" in cell else cell
        for word in list_words(field.get_default(call_default_factory=True)):
            found = re.search(rf"(?<![\w.-]){re.escape(word)}(?!\w|\.\d)", where)
            assert found, f"{name}: {word!r} is not in {cell!r}"
