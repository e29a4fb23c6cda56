"""The YAML blocks of the pages, and what each of them is: whoever copies one gets what works."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.bundles.schema import BundleFile
from amplifier_hooks.modules.options import parse_config
from tests.docs.blocks import FENCE

MODULES = {entry.name: entry for entry in entry_points(group="amplifier.modules")}
OF_A_BUNDLE = set(BundleFile.model_fields)
OF_A_WORKFLOW = {"jobs", "on", "steps"}
OF_PROMETHEUS = {"scrape_configs"}


@dataclass(frozen=True)
class Example:
    """One block, with the page and the line where it is."""

    page: Path
    line: int
    text: str

    @property
    def name(self) -> str:
        """`bundles.md:12`, which is where to look."""
        return f"{self.page.name}:{self.line}"

    @property
    def content(self) -> Any:
        """What it says."""
        return yaml.safe_load(self.text)

    @property
    def kind(self) -> str:
        """What it is an example of; empty if nobody knows."""
        content = self.content
        if isinstance(content, list):
            return "script" if all(isinstance(one, dict) for one in content) else ""
        if not isinstance(content, dict):
            return ""
        keys = {str(key) for key in content if not str(key).startswith("x-")}
        if "rules" in keys:
            decides = any("decision" in rule for rule in content["rules"])
            return "approval rules" if decides else "rules"
        if "cases" in keys:
            return "cases"
        if keys & OF_A_WORKFLOW or True in content:  # YAML reads the key `on` as true
            return "workflow"
        if keys == OF_PROMETHEUS:
            return "prometheus"
        return "bundle" if keys <= OF_A_BUNDLE else ""


def list_examples(page: Path) -> list[Example]:
    """The YAML blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Example(page, text.count("\n", 0, fence.start(2)) + 1, fence[2])
        for fence in FENCE.finditer(text)
        if fence[1] in {"yaml", "yml"}
    ]


def list_modules(text: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The modules of an example on top of the default bundle; raises if it is no valid bundle."""
    path = folder / "amplifier.yaml"
    path.write_text(text, encoding="utf-8")
    env = dict.fromkeys(re.findall(r"\$\{(\w+)", text), "https://example.org/value")
    plan = load_bundle(path, env={"HOME": str(folder), **env}).mount_plan
    for entry in (plan["session"]["orchestrator"], plan["session"]["context"]):
        yield {"module": entry} if isinstance(entry, str) else entry
    for section in ("providers", "tools", "hooks"):
        yield from plan.get(section) or ()


def find_named(text: str) -> set[str]:
    """The modules of this project that an example names."""
    return set(re.findall(r"[a-z]+(?:-[a-z]+)+", text)) & set(MODULES)


class Parsed(Exception):
    """Mounting got as far as its options, which are right."""

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__(model.__name__)
        self.model = model


async def find_model(
    entry: EntryPoint, config: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> type[BaseModel]:
    """The model that the module itself reads its options with, after it has read these."""

    def parse(model: type[Any], given: Any, owner: str) -> Any:
        parse_config(model, given, owner)
        raise Parsed(model)

    mount = entry.load()
    for name, module in list(sys.modules.items()):
        if name.startswith("amplifier_hooks.") and hasattr(module, "parse_config"):
            monkeypatch.setattr(module, "parse_config", parse)
    with pytest.raises(Parsed) as parsed:
        await mount(None, config)
    return parsed.value.model
