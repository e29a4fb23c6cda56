"""The page of a module shows options that the module takes, and all of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from amplifier_foundation.bundles import load_bundle
from amplifier_foundation.modules.options import parse_config

PAGES = sorted((Path(__file__).parents[2] / "docs" / "modules").glob("*.md"))
MODULES = {entry.name: entry for entry in entry_points(group="amplifier.modules")}
_BLOCK = re.compile(r"^```ya?ml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^(session|providers|tools|hooks|agents|audit|approval):", re.MULTILINE)
_OPTIONS = re.compile(r"^\| option \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)
_FIRST_CELL = re.compile(r"^\|([^|]*)\|", re.MULTILINE)
_CELLS = re.compile(r"^\| ([^|]*) \| ([^|]*) \|", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")


class Parsed(Exception):
    """Mounting got as far as its options, which are right."""

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__(model.__name__)
        self.model = model


def examples(page: Path) -> list[str]:
    """The examples that are bundles; rule files and the like are shown in the same pages."""
    return [block for block in _BLOCK.findall(page.read_text()) if _SECTION.search(block)]


def entries(text: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The modules of an example on top of the default bundle."""
    path = folder / "amplifier.yaml"
    path.write_text(text)
    env = dict.fromkeys(re.findall(r"\$\{(\w+)", text), "https://example.org/value")
    plan = load_bundle(path, env={"HOME": str(folder), **env}).mount_plan
    for entry in (plan["session"]["orchestrator"], plan["session"]["context"]):
        yield {"module": entry} if isinstance(entry, str) else entry
    for section in ("providers", "tools", "hooks"):
        yield from plan.get(section) or ()


async def model_of(
    entry: EntryPoint, config: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> type[BaseModel]:
    """The model that the module itself reads its options with, after it has read these."""

    def parse(model: type[Any], given: Any, owner: str) -> Any:
        parse_config(model, given, owner)
        raise Parsed(model)

    mount = entry.load()
    for name, module in list(sys.modules.items()):
        if name.startswith("amplifier_foundation.") and hasattr(module, "parse_config"):
            monkeypatch.setattr(module, "parse_config", parse)
    with pytest.raises(Parsed) as parsed:
        await mount(None, config)
    return parsed.value.model


CASES = [
    pytest.param(page, text, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, text in enumerate(examples(page))
]


@pytest.mark.parametrize(("page", "text"), CASES)
async def test_the_options_of_an_example_are_right(
    page: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A config example in YAML that is valid."""
    named = set(re.findall(r"[a-z]+(?:-[a-z]+)+", text)) & set(MODULES)
    assert named, "the example has no module of this project"
    for entry in entries(text, tmp_path):
        if entry["module"] in named:
            await model_of(MODULES[entry["module"]], entry.get("config"), monkeypatch)
            monkeypatch.undo()


def page_of(module: str) -> Path:
    name = "loops" if module.startswith("loop-") else module
    return next(page for page in PAGES if page.stem == name)


def options_in(text: str) -> set[str]:
    """The names in the first column of the table of options; some rows have several."""
    table = _OPTIONS.findall(text)[0]  # a second one is of options within an option
    return {name for cell in _FIRST_CELL.findall(table) for name in re.findall(r"`([^`]+)`", cell)}


NEEDED: dict[str, dict[str, Any]] = {"hooks-test-runner": {"command": "true"}}


@pytest.mark.parametrize("module", sorted(MODULES))
async def test_a_page_lists_all_options_and_no_others(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All options in a table."""
    text = page_of(module).read_text()
    model = await model_of(MODULES[module], NEEDED.get(module), monkeypatch)
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
    model = await model_of(MODULES[module], NEEDED.get(module), monkeypatch)
    for name, field in model.model_fields.items():
        cell = written[field.alias or name]
        where = page if "below" in cell else cell
        for word in list_words(field.get_default(call_default_factory=True)):
            found = re.search(rf"(?<![\w.-]){re.escape(word)}(?!\w|\.\d)", where)
            assert found, f"{name}: {word!r} is not in {cell!r}"
